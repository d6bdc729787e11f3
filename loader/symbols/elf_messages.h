// SPDX-License-Identifier: GPL-3.0-or-later
// What processes that read ELF files say of them. Nothing of it is believed unless it holds
// together: files are opened by it.
#pragma once

#include "loader/base/bytes.h"
#include "loader/elf/debug_link.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger::elf_messages {

inline constexpr size_t text_limit = 16 << 10; // of a name or path; longer ones are cut

struct Opened {
    std::string problem{};  // why it cannot be read; empty: it can
    std::string build_id{}; // lower-case hexadecimal; empty: none
    std::optional<DebugLink> link{};
    bool symbols = false, dwarf = false; // are in the file
    friend bool operator==(const Opened&, const Opened&) = default;
};
std::string opened(const Opened& opened);
// Nothing also when a build id is none, or a link leads elsewhere.
std::optional<Opened> opened(std::string_view bytes);

struct BuildId {
    std::string text; // lower-case hexadecimal; empty: it has none, or cannot be read
};
std::string build_id(const BuildId& build_id);
std::optional<BuildId> build_id(std::string_view bytes);

struct Checksum {
    std::optional<uint32_t> crc; // nothing: it has none
};
std::string checksum(const Checksum& checksum);
std::optional<Checksum> checksum(std::string_view bytes);

// Lower-case hexadecimal, or empty; one that no linker writes is none.
void put_build_id(ByteWriter& out, std::string_view text);
std::string take_build_id(ByteReader& in);

inline std::string_view cut(std::string_view text) {
    return text.substr(0, text_limit);
}

// What was read, if it was all that there is and nothing failed.
template <typename T>
std::optional<T> whole(const ByteReader& in, T value) {
    return in.failed() || !in.at_end() ? std::nullopt : std::optional<T>(std::move(value));
}

} // namespace auger::elf_messages
