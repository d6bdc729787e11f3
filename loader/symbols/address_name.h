// SPDX-License-Identifier: GPL-3.0-or-later
// AddressName: what an address in a module is shown as.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace auger {

struct AddressQuery {
    uint64_t address; // as linked, which is shown where there is no name
    uint64_t place;   // within the instruction: before a return address
};

struct AddressName {
    // The function, demangled; where no symbol covers the address, "module+0x1f0", where its
    // function begins, as far as that can be told of one without a name; else "module+0x1f3", or
    // "[unknown]".
    std::string text;
    bool named = false;
    friend bool operator==(const AddressName&, const AddressName&) = default;
};

// The spelling of places without a name: "libc.so.6+0x1f3" and "[unknown]".
std::string offset_name(std::string_view module_path, uint64_t address);
inline constexpr std::string_view unknown_name = "[unknown]";
// "libc.so.6" of "/usr/lib/libc.so.6"; special names ("[vdso]") as they are.
std::string_view base_name(std::string_view path);

} // namespace auger
