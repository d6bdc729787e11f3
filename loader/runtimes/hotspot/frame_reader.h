// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of a frame of HotSpot's, read out of its process. Code and methods die, and their
// memory becomes others'; the cookie tells.
#pragma once

#include "loader/runtimes/hotspot/vm_structs.h"
#include "loader/runtimes/read_memory.h"

#include "bpf/wire/hotspot.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace auger {

struct HotspotFunction {
    std::string name; // "java.lang.Thread.sleep"; of code that is no method's "[interpreter]", ...
    std::string file; // "java/lang/Thread.java"; empty: not known
    uint32_t line = 0;
};
// Innermost first: of compiled code the method that it is of, and before it those that the compiler
// has put into it.
using HotspotFrame = std::vector<HotspotFunction>;

enum class HotspotFrameProblem : uint8_t {
    unreadable,
    gone, // other code is there, or something else
    late, // see MemoryRead
};
using HotspotFrameAnswer = std::variant<HotspotFrame, HotspotFrameProblem>;

// Of compiled code, or a stub. `blob`: address of the CodeBlob; `second`: the frame's second word
// (bpf/wire/hotspot.h).
HotspotFrameAnswer read_hotspot_code(const ReadMemory& read, const HotspotValues& values,
                                     const wire_hotspot& walk, uint64_t blob, uint64_t second);
// Of an interpreted method.
HotspotFrameAnswer read_hotspot_method(const ReadMemory& read, const HotspotValues& values,
                                       uint64_t method, uint64_t second);

} // namespace auger
