// SPDX-License-Identifier: GPL-3.0-or-later
// Reading what a file claims to have, at no more cost than what it has: sizes in headers cost
// nothing to write, files can be sparse, and many names can share the bytes of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace auger {

// As many bytes as there are; fewer at the end of the file, or when it cannot be read.
size_t read_at(int fd, void* to, size_t size, uint64_t offset);

// The most bytes that the file can have beside holes, however well its file system compresses.
uint64_t real_size(int fd);

// Of the file; empty when it does not have so many bytes there, or most of them must be holes.
std::vector<std::byte> file_content(int fd, uint64_t offset, uint64_t size);

// Names that share bytes with others, read from one table: their lengths add up to no more than a
// few times that of the table.
class StringTable {
  public:
    explicit StringTable(std::span<const std::byte> bytes);

    // The string at an index, of a table that may lack its terminating zero. Empty when there is
    // none, it has more than `longest` bytes, or too much has been read already.
    std::string_view at(uint64_t index, size_t longest);

  private:
    std::span<const std::byte> bytes_;
    size_t room_;
};

} // namespace auger
