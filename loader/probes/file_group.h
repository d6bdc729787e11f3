// SPDX-License-Identifier: GPL-3.0-or-later
// FileGroup: files that are read in one process. Whoever wrote one of them may say what the others
// hold.
#pragma once

#include "loader/probes/code_file.h"
#include "loader/process/file_owner.h"

#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace auger {

// A file of the target's.
struct SearchedFile {
    std::shared_ptr<const CodeFile> file;
    bool main_program;
};

struct FileGroup {
    FileOwner owner;
    // Of files that others may write, too: the group that may, or the file itself.
    std::optional<gid_t> writers{};
    uint64_t device = 0, inode = 0;
    auto operator<=>(const FileGroup&) const = default;

    static FileGroup of(const CodeFile& file) {
        FileGroup group{file.owner(), file.writers()};
        if (!group.owner.shares() && !group.writers) {
            group.device = file.device();
            group.inode = file.inode();
        }
        return group;
    }
    bool trusted() const { return owner.kind == FileOwner::Kind::trusted; }
    // Whether its files may be handed to who reads the other's: as root's files are, also those of
    // root where the other's owner is a user.
    bool serves(const FileGroup& other) const {
        const bool of_its_root = !other.trusted() && owner.kind == FileOwner::Kind::user &&
                                 owner.user.uid == 0 &&
                                 owner.user.device == other.owner.user.device &&
                                 owner.user.inode == other.owner.user.inode;
        return *this == other || trusted() || of_its_root;
    }
};

// The files of one request, and where they stand among those that were asked for.
struct ListedFiles {
    std::vector<SearchedFile> files;
    std::vector<size_t> positions;
    std::vector<bool> searched;
    bool has_main_program = false; // that is searched

    void add(const SearchedFile& file, size_t position, bool search) {
        files.push_back(file);
        positions.push_back(position);
        searched.push_back(search);
        has_main_program |= search && file.main_program;
    }
    void add(const ListedFiles& from, size_t at) {
        add(from.files[at], from.positions[at], from.searched[at]);
    }
};

} // namespace auger
