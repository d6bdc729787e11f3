// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/debug_files.h"

#include "loader/elf/bounded_reading.h"
#include "loader/process/safe_open.h"

#include <sys/stat.h>
#include <zlib.h>

#include <optional>
#include <utility>
#include <vector>

namespace auger {
namespace {

std::shared_ptr<const ElfFile> open_below(int root, const std::string& path) {
    if (root < 0)
        return nullptr;
    auto file = open_regular_beneath(root, path, Symlinks::follow);
    if (!file)
        return nullptr;
    auto elf = ElfFile::open(*std::move(file), path);
    return elf ? *elf : nullptr;
}

// Nothing of a file that is larger than any honest one: which costs nothing, when it has holes.
std::optional<uint32_t> checksum(int fd, const WorkProgress& progress) {
    constexpr uint64_t limit = uint64_t{8} << 30;
    struct stat status;
    if (fstat(fd, &status) != 0 || static_cast<uint64_t>(status.st_size) > limit ||
        static_cast<uint64_t>(status.st_size) > real_size(fd))
        return std::nullopt;
    std::vector<unsigned char> chunk(1 << 20);
    uLong crc = crc32(0, nullptr, 0);
    for (off_t position = 0; !progress.stopped();) {
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
    return std::nullopt;
}

} // namespace

std::shared_ptr<const ElfFile> debug_file_by_build_id(std::string_view build_id,
                                                      const DebugFolders& folders) {
    if (build_id.size() < 4)
        return nullptr;
    std::string path = "/.build-id/";
    path.append(build_id.substr(0, 2)).append("/").append(build_id.substr(2)).append(".debug");
    // A folder that stands for a target's root may be nothing but such a store.
    for (const auto& [root, folder] : {std::pair{folders.own_root, folders.folder},
                                       std::pair{folders.target_root, folders.folder},
                                       std::pair{folders.target_root, std::string()}})
        if (auto elf = open_below(root, folder + path); elf && elf->build_id() == build_id)
            return elf;
    return nullptr;
}

std::shared_ptr<const ElfFile> find_debug_file(const ElfFile& module, const std::string& path,
                                               const DebugFolders& folders,
                                               const WorkProgress& progress) {
    if (auto elf = debug_file_by_build_id(module.build_id(), folders))
        return elf;
    const auto& link = module.debug_link();
    if (!link || link->file_name.empty() || link->file_name.find('/') != std::string::npos)
        return nullptr;
    const std::string beside = path.substr(0, path.rfind('/') + 1);
    for (const int root : {folders.own_root, folders.target_root})
        for (const std::string& folder :
             {beside, beside + ".debug/", folders.folder + "/" + beside}) {
            auto elf = open_below(root, folder + link->file_name);
            if (!elf || (elf->device() == module.device() && elf->inode() == module.inode()))
                continue;
            if (checksum(elf->fd(), progress) == link->crc)
                return elf;
        }
    return nullptr;
}

} // namespace auger
