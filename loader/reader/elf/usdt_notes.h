// SPDX-License-Identifier: GPL-3.0-or-later
// USDT probes as a file's notes have them (section .note.stapsdt, the format of SystemTap's
// <sys/sdt.h>): where their sites are and where their arguments lie there.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace auger {

// The texts are as in the file, and live as long as what they were read from.
struct UsdtNote {
    std::string_view provider, name, arguments;
    uint64_t address;                  // of the site, as linked
    std::optional<uint64_t> semaphore; // its address as linked
};

// Those that are whole and whose names and arguments are of honest length, at most
// `most_usdt_notes`. `base`: where .stapsdt.base is now; nothing: it is not known to have moved.
std::vector<UsdtNote> parse_usdt_notes(std::span<const std::byte> section,
                                       std::optional<uint64_t> base);

inline constexpr size_t most_usdt_notes = size_t{1} << 15;

// A file's, with what they point into.
class UsdtNotes {
  public:
    explicit UsdtNotes(const ElfFile& file);
    UsdtNotes(const UsdtNotes&) = delete;
    UsdtNotes& operator=(const UsdtNotes&) = delete;

    const std::vector<UsdtNote>& all() const { return notes_; } // in the file's order

  private:
    std::vector<std::byte> section_;
    std::vector<UsdtNote> notes_;
};

} // namespace auger
