// SPDX-License-Identifier: GPL-3.0-or-later
// The page of flame.html, as the build puts it into the program.
#pragma once

#include <string_view>

namespace auger {

extern const std::string_view flame_page;

} // namespace auger
