// SPDX-License-Identifier: GPL-3.0-or-later
// A file's sections, as libelf finds them; every number that it hands on is checked before use.
// Changes with what honest section tables look like.
#pragma once

#include "loader/elf/bounded_reading.h"

#include <gelf.h>
#include <libelf.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

inline constexpr size_t section_name_limit = 255; // bytes

struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

// A libelf handle is not safe to share between threads, so each reading operation opens its own:
// the headers are all that this costs. Null when it is not such a file.
ElfHandle open_elf(int fd);
// Why libelf failed.
std::string elf_cause();

// The section's content; empty when it has none, lies outside the file or is larger than `limit`.
// A compressed section is inflated only after its claimed size passed the limit.
std::vector<std::byte> section_content(int fd, Elf_Scn* section, size_t limit);

// Names of sections, read once. (libelf would inflate a compressed table at every look-up.)
class SectionNames {
  public:
    SectionNames(int fd, Elf* elf) : bytes_(read(fd, elf)), names_(bytes_) {}
    std::string_view of(const GElf_Shdr& section) {
        return names_.at(section.sh_name, section_name_limit);
    }

  private:
    static std::vector<std::byte> read(int fd, Elf* elf);

    std::vector<std::byte> bytes_;
    StringTable names_;
};

Elf_Scn* find_section(int fd, Elf* elf, std::string_view name); // null: there is none

} // namespace auger
