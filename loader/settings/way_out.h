// SPDX-License-Identifier: GPL-3.0-or-later
// How ends of functions are to be seen. Changes when there is another way.
#pragma once

namespace auger {

// How a function's end is observed; see ARCHITECTURE.md, "Ways out".
enum class WayOut { automatic, cheap, ret, trampoline };

} // namespace auger
