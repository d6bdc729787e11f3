// SPDX-License-Identifier: GPL-3.0-or-later
// Frame: one line of a resolved stack, made of interned names and free of file handles, so that it
// comes from the symbolizer and from a recording alike.
#pragma once

#include "loader/symbols/name_pool.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

enum class FrameKind : uint8_t {
    unknown = 0, // in no mapping: "[unknown]"
    native = 1,  // code of a file, or of the vdso
    kernel = 2,
    jit = 3, // named by a perf-map file
};

struct Frame {
    NameId function{}; // demangled; "module+0x1f3" when there is no symbol
    NameId module{};   // base name: "libc.so.6"; "[kernel]", "[nf_tables]", "[vdso]", "[jit]"
    NameId file{};     // source path, empty when not known
    uint32_t line = 0; // 0: not known
    FrameKind kind = FrameKind::unknown;
    bool inlined = false; // a copy inside the next outer frame, which shares its address
    bool named = false;   // `function` is a name, not module+offset
    // As linked in its module (what addr2line takes); the address itself for kernel and JIT code.
    uint64_t module_offset = 0;

    bool operator==(const Frame&) const = default;
};

// Equal for frames that a flame graph shows as one box: the same function of the same module.
struct SameFunction {
    bool operator()(const Frame& a, const Frame& b) const {
        return a.function == b.function && a.module == b.module && a.kind == b.kind &&
               a.inlined == b.inlined;
    }
};
struct FunctionHash {
    size_t operator()(const Frame& frame) const {
        return std::hash<uint64_t>{}(uint64_t(frame.function) << 32 | uint64_t(frame.module)) +
               frame.inlined;
    }
};

// The spelling of places without a name.
std::string offset_name(std::string_view module, uint64_t offset); // "libc.so.6+0x1f3"
inline constexpr std::string_view unknown_name = "[unknown]";
Frame unknown_frame(NamePool& names, uint64_t address);
// "libc.so.6" of "/usr/lib/libc.so.6"; special names ("[vdso]") as they are.
std::string_view base_name(std::string_view path);

} // namespace auger
