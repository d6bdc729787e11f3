// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/names/elf_questions.h"

#include "loader/base/fd.h"
#include "loader/elf/bounded_reading.h"

#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <vector>

namespace auger {

std::optional<std::string> ElfQuestions::build_id_of(int fd) {
    const auto file = ElfFile::open(duplicate(fd), {});
    if (!file || (*file)->build_id().empty())
        return std::nullopt;
    return (*file)->build_id();
}

// Of a file with holes it would cost what the file does not have.
std::optional<uint32_t> ElfQuestions::checksum_of(int fd) {
    constexpr uint64_t limit = uint64_t{8} << 30;
    struct stat status;
    if (fstat(fd, &status) != 0 || static_cast<uint64_t>(status.st_size) > limit ||
        static_cast<uint64_t>(status.st_size) > real_size(fd))
        return std::nullopt;
    std::vector<unsigned char> chunk(1 << 20);
    uLong crc = crc32(0, nullptr, 0);
    for (off_t position = 0;;) {
        const ssize_t got = pread(fd, chunk.data(), chunk.size(), position);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return std::nullopt;
        if (got == 0)
            return static_cast<uint32_t>(crc);
        crc = crc32(crc, chunk.data(), static_cast<uInt>(got));
        position += got;
    }
}

std::shared_ptr<const ElfFile> open_elf(const DebugFile& file) {
    auto elf = ElfFile::open(duplicate(file.fd->get()), file.name);
    return elf ? *std::move(elf) : nullptr;
}

std::shared_ptr<const ElfFile> open_debug_file(const ElfFile& module, const std::string& path,
                                               const DebugFolders& folders) {
    ElfQuestions questions;
    const auto file = find_debug_file({module.fd(), path, module.build_id(), module.debug_link()},
                                      folders, questions);
    return file ? open_elf(*file) : nullptr;
}

} // namespace auger
