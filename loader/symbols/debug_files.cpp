// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/debug_files.h"

#include "loader/process/safe_open.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace auger {
namespace {

// What is no ELF file is nobody's to read: the name may have been chosen to lead to a secret.
std::optional<DebugFile> open_below(int root, const std::string& path) {
    if (root < 0)
        return std::nullopt;
    auto file = open_regular_beneath(root, path, Symlinks::follow);
    char magic[4];
    if (!file || pread(file->get(), magic, sizeof magic, 0) != sizeof magic ||
        std::memcmp(magic, "\177ELF", sizeof magic) != 0)
        return std::nullopt;
    return DebugFile{std::make_shared<const UniqueFd>(*std::move(file)), path};
}

bool same_file(int a, int b) {
    struct stat first, second;
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

} // namespace

std::optional<DebugFile> debug_file_by_build_id(std::string_view build_id,
                                                const DebugFolders& folders,
                                                FileQuestions& questions) {
    if (build_id.size() < 4 || build_id.find_first_not_of("0123456789abcdef") != build_id.npos)
        return std::nullopt;
    std::string path = "/.build-id/";
    path.append(build_id.substr(0, 2)).append("/").append(build_id.substr(2)).append(".debug");
    // A folder that stands for a target's root may be nothing but such a store.
    for (const auto& [root, folder] : {std::pair{folders.own_root, folders.folder},
                                       std::pair{folders.target_root, folders.folder},
                                       std::pair{folders.target_root, std::string()}})
        if (auto file = open_below(root, folder + path);
            file && questions.build_id_of(file->fd->get()) == build_id)
            return file;
    return std::nullopt;
}

std::optional<DebugFile> find_debug_file(const DebugFileOf& module, const DebugFolders& folders,
                                         FileQuestions& questions) {
    if (auto file = debug_file_by_build_id(module.build_id, folders, questions))
        return file;
    const auto& link = module.link;
    if (!link || link->file_name.empty() || link->file_name.find('/') != std::string::npos)
        return std::nullopt;
    const std::string beside = module.path.substr(0, module.path.rfind('/') + 1);
    for (const int root : {folders.own_root, folders.target_root})
        for (const std::string& folder :
             {beside, beside + ".debug/", folders.folder + "/" + beside}) {
            auto file = open_below(root, folder + link->file_name);
            if (file && !same_file(file->fd->get(), module.file) &&
                questions.checksum_of(file->fd->get()) == link->crc)
                return file;
        }
    return std::nullopt;
}

} // namespace auger
