// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace auger {

// Why a function of a process could not be read.
enum class FunctionProblem {
    unreadable,
    gone, // another one is there, or something else
    late, // see MemoryRead
};

} // namespace auger
