// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/elf/bounded_reading.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace auger {
namespace {

// A linker lets the end of one name be another name, and several symbols have the same one. Small
// tables may do so more often.
constexpr size_t times_read = 4, least_room = size_t{1} << 20;
// The most that file systems compress by; what they keep beside the blocks that they count.
constexpr uint64_t compression = 32, beside_blocks = uint64_t{1} << 20, block = 512;

} // namespace

size_t read_at(int fd, void* to, size_t size, uint64_t offset) {
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pread(fd, static_cast<char*>(to) + done, size - done,
                                static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += static_cast<size_t>(n);
    }
    return done;
}

uint64_t real_size(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return 0;
    // Some network file systems do not count blocks; a file that is all hole is no ELF file.
    if (status.st_blocks == 0)
        return static_cast<uint64_t>(status.st_size);
    return std::min(static_cast<uint64_t>(status.st_size),
                    beside_blocks + static_cast<uint64_t>(status.st_blocks) * block * compression);
}

std::vector<std::byte> file_content(int fd, uint64_t offset, uint64_t size) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return {};
    const auto there = static_cast<uint64_t>(status.st_size);
    if (offset > there || size > there - offset || size > real_size(fd))
        return {};
    std::vector<std::byte> bytes(size);
    bytes.resize(read_at(fd, bytes.data(), bytes.size(), offset));
    return bytes;
}

StringTable::StringTable(std::span<const std::byte> bytes)
    : bytes_(bytes), room_(least_room + times_read * bytes.size()) {}

std::string_view StringTable::at(uint64_t index, size_t longest) {
    if (index >= bytes_.size())
        return {};
    const char* const text = reinterpret_cast<const char*>(bytes_.data()) + index;
    const size_t left = bytes_.size() - index;
    const size_t most = std::min({left, longest + 1, room_});
    const void* const end = std::memchr(text, 0, most);
    if (!end) {
        room_ -= most;
        return {};
    }
    const auto length = static_cast<size_t>(static_cast<const char*>(end) - text);
    room_ -= length;
    return {text, length};
}

} // namespace auger
