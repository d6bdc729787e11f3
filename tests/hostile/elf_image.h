// SPDX-License-Identifier: GPL-3.0-or-later
// ElfImage: an ELF file that is written where something is said, and has holes elsewhere. Its one
// segment is a page of code that does run (attack_code.h).
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace auger::test {

inline constexpr uint64_t megabyte = uint64_t{1} << 20;

class ElfImage {
  public:
    // Of the code: in the file, and as linked.
    static constexpr uint64_t code_offset = 0x1000, code_size = 0x1000;

    // Throws when there cannot be such a file, as everything here does.
    explicit ElfImage(const std::string& path);
    ~ElfImage();
    ElfImage(const ElfImage&) = delete;
    ElfImage& operator=(const ElfImage&) = delete;

    // What is added returns where it is.
    uint64_t add(const void* bytes, size_t size);
    uint64_t add(const std::string& bytes) { return add(bytes.data(), bytes.size()); }
    uint64_t add_hole(uint64_t size);
    // Its index. `name`: where that is among the names of sections.
    size_t section(uint32_t type, uint64_t offset, uint64_t size, uint32_t link = 0,
                   uint64_t flags = 0, uint32_t name = 1);
    Elf64_Shdr& header(size_t section) { return sections_[section]; }
    // `names`: the section with the names of sections.
    void finish(size_t names);

  private:
    void write(const void* bytes, size_t size, uint64_t offset);

    int fd_;
    uint64_t end_;
    std::vector<Elf64_Shdr> sections_{1};
};

} // namespace auger::test
