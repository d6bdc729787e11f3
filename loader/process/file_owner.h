// SPDX-License-Identifier: GPL-3.0-or-later
// FileOwner: whose word the content of a file is. What is read of one owner's files says nothing of
// another's.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>

namespace auger {

// A user, of one of the views of the file system in which users are others; of files whose owners
// cannot be believed, that user of that file system.
struct FileUser {
    uid_t uid = 0;
    uint64_t device = 0, inode = 0; // of the root folder; 0: our own. Or of the file system, and 0
    auto operator<=>(const FileUser&) const = default;
};

struct FileOwner {
    enum class Kind : uint8_t {
        trusted,   // nobody's but root's and our user's: is_trusted_file(), in our own root
        user,      // who owns it
        generated, // whose program generates code
        fetched,   // of a server: it has a debug file from there
        nobody,    // it is read alone: others may write it, or owners cannot be believed
    } kind{};
    FileUser user{};
    auto operator<=>(const FileOwner&) const = default;
    bool operator==(const FileOwner&) const = default;

    // `root`: a descriptor, or -1: ours.
    static FileOwner of_file(int fd, int root);
    static FileOwner of_program(uid_t uid, int root);
    FileOwner with_kind(Kind other) const { return {other, user}; }
    bool shares() const { return kind != Kind::nobody; }
};

} // namespace auger
