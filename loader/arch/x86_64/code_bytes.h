// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of x86-64's code that are known as such, without being decoded.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace auger {

namespace code_bytes {
template <typename... Byte>
constexpr std::array<std::byte, sizeof...(Byte)> of(Byte... byte) {
    return {static_cast<std::byte>(byte)...};
}
} // namespace code_bytes

// Where indirect jumps and calls may land: endbr64.
inline constexpr auto landing_pad = code_bytes::of(0xf3, 0x0f, 0x1e, 0xfa);

// rt_sigreturn, to which a signal handler returns: mov $15, %rax (or %eax); syscall.
inline constexpr auto signal_return = code_bytes::of(0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05);
inline constexpr auto short_signal_return = code_bytes::of(0xb8, 15, 0, 0, 0, 0x0f, 0x05);

inline bool begins_with(std::span<const std::byte> code, std::span<const std::byte> bytes) {
    return code.size() >= bytes.size() && std::ranges::equal(code.first(bytes.size()), bytes);
}

inline bool returns_from_signal(std::span<const std::byte> code) {
    return begins_with(code, signal_return) || begins_with(code, short_signal_return);
}

// What linkers and compilers fill up with between functions: nop, zeros, int3.
inline constexpr bool is_padding_byte(std::byte byte) {
    return byte == std::byte{0x90} || byte == std::byte{0} || byte == std::byte{0xcc};
}

// Of the nops of any length, if the instruction does nothing else.
inline constexpr bool may_begin_nop(std::byte first) {
    return first == std::byte{0x90} || first == std::byte{0x66} || first == std::byte{0x0f} ||
           first == std::byte{0x2e};
}

} // namespace auger
