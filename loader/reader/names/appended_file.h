// SPDX-License-Identifier: GPL-3.0-or-later
// AppendedFile: reads on in a file that another program, which is not trusted, appends to. What
// was read once is not read again, unless the file was replaced or has become shorter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace auger {

// What understands the content.
class AppendedReader {
  public:
    virtual ~AppendedReader() = default;
    // The file is another one: what was read is forgotten.
    virtual void begin_anew() = 0;
    // How many bytes have been dealt with. The rest comes again with what follows; a number beyond
    // `bytes` leaves out what follows. `full`: more cannot be had at once, so at least one byte has
    // to be dealt with.
    virtual uint64_t take(std::string_view bytes, bool full) = 0;
};

class AppendedFile {
  public:
    static constexpr size_t chunk_size = 1 << 20;
    // Bytes looked at in one read(), so that a huge file does not keep others waiting.
    static constexpr uint64_t step_limit = 32 << 20;

    // Of the file no more than `size_limit` bytes are read.
    explicit AppendedFile(uint64_t size_limit) : size_limit_(size_limit) {}

    struct News {
        bool any = false;  // there was something new
        bool more = false; // there is more than was looked at
    };
    News read(int fd, AppendedReader& reader);

  private:
    uint64_t size_limit_;
    uint64_t device_ = 0, inode_ = 0; // of the file last read
    uint64_t seen_ = 0;               // its size then
    uint64_t position_ = 0;           // up to where it was dealt with
};

} // namespace auger
