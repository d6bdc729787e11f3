// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/debug_files.h"

#include "loader/process/safe_open.h"
#include "loader/process/trusted_file.h"

#include <elf.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace auger {
namespace {

// The name may have been chosen to lead to a secret: to a file of another kind, a dump of memory,
// the kernel's own (/proc/kcore).
bool may_be_debug_file(int fd) {
    Elf64_Ehdr header;
    struct statfs system;
    return pread(fd, &header, sizeof header, 0) == sizeof header &&
           std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           (header.e_type == ET_EXEC || header.e_type == ET_DYN || header.e_type == ET_REL) &&
           fstatfs(fd, &system) == 0 && system.f_type != PROC_SUPER_MAGIC;
}

// Whether who wrote it may say what the functions of the module are called.
bool may_tell_of(int module, int fd, int root, bool in_own_root) {
    struct stat of_module, of_file, of_root;
    if (module < 0 || (in_own_root && is_trusted_file(fd)))
        return true;
    if (fstat(module, &of_module) != 0 || fstat(fd, &of_file) != 0)
        return false;
    // Where owners are not to be believed, those of one file system are as good as each other.
    if (!has_believable_owner(module) || !has_believable_owner(fd))
        return of_module.st_dev == of_file.st_dev;
    // In a container its root may, whose the folder is.
    const bool is_its_roots =
        !in_own_root && fstat(root, &of_root) == 0 && of_root.st_uid == of_file.st_uid;
    return is_its_roots || of_module.st_uid == of_file.st_uid;
}

// What looks for a module's debug file.
struct Search {
    int module; // -1: of anybody's
    const DebugFolders& folders;

    std::optional<DebugFile> open(int root, const std::string& path) const {
        if (root < 0)
            return std::nullopt;
        auto file = open_regular_beneath(root, path, Symlinks::follow);
        if (!file || !may_be_debug_file(file->get()) ||
            !may_tell_of(module, file->get(), root, root == folders.own_root))
            return std::nullopt;
        return DebugFile{std::make_shared<const UniqueFd>(*std::move(file)), path};
    }
};

bool same_file(int a, int b) {
    struct stat first, second;
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

} // namespace

std::optional<DebugFile> debug_file_by_build_id(std::string_view build_id, int module,
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
        if (auto file = Search{module, folders}.open(root, folder + path);
            file && questions.build_id_of(file->fd->get()) == build_id)
            return file;
    return std::nullopt;
}

std::optional<DebugFile> find_debug_file(const DebugFileOf& module, const DebugFolders& folders,
                                         FileQuestions& questions) {
    if (auto file = debug_file_by_build_id(module.build_id, module.file, folders, questions))
        return file;
    const auto& link = module.link;
    if (!link || link->file_name.empty() || link->file_name.find('/') != std::string::npos)
        return std::nullopt;
    const std::string beside = module.path.substr(0, module.path.rfind('/') + 1);
    for (const int root : {folders.own_root, folders.target_root})
        for (const std::string& folder :
             {beside, beside + ".debug/", folders.folder + "/" + beside}) {
            auto file = Search{module.file, folders}.open(root, folder + link->file_name);
            if (!file || same_file(file->fd->get(), module.file))
                continue;
            // Where both have a build id there is no need to read all of another one.
            const int fd = file->fd->get();
            const auto id = module.build_id.empty() ? std::nullopt : questions.build_id_of(fd);
            if ((!id || *id == module.build_id) && questions.checksum_of(fd) == link->crc)
                return file;
        }
    return std::nullopt;
}

} // namespace auger
