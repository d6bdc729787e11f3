// SPDX-License-Identifier: GPL-3.0-or-later
// CodeFile: a file that may be probed, as auger itself knows it: open, whose it is, and how it is
// loaded. All else that is in it is read by confined processes (code_readers.h).
#pragma once

#include "loader/base/fd.h"
#include "loader/elf/program_headers.h"
#include "loader/process/file_owner.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class CodeFile {
  public:
    using Root = std::shared_ptr<const UniqueFd>; // a root folder (RootFolders); null: ours
    // `path` as the target sees it; `root`: of those that map it, where debug files may be;
    // `seen_in`: of the one that it was opened for; nothing: it could not be looked at. Null for
    // what is not an ELF file for this machine.
    static std::shared_ptr<const CodeFile> open(UniqueFd fd, std::string path, Root root,
                                                const std::optional<Root>& seen_in);

    int fd() const { return fd_.get(); }
    const std::string& path() const { return path_; }
    const Root& root() const { return root_; }
    const FileOwner& owner() const { return owner_; }
    // Of one that is nobody's: the group that may write it beside its owner, if that is all.
    std::optional<gid_t> writers() const { return writers_; }
    uint64_t device() const { return device_; } // st_dev and st_ino: its identity
    uint64_t inode() const { return inode_; }
    uint64_t size() const { return size_; }                           // bytes
    const std::string& build_id() const { return headers_.build_id; } // see ProgramHeaders
    const std::vector<ElfSegment>& segments() const { return headers_.segments; }

    // Nothing when the address as linked is outside of every segment.
    std::optional<uint64_t> offset_of_address(uint64_t address) const {
        return auger::offset_of_address(headers_.segments, address);
    }
    // Whether what lies at the offset is code: in an executable segment.
    bool is_code(uint64_t offset) const;

    // "/opt/server of user 1000": of whom the file is, where not only root can have written it.
    std::string path_and_owner() const;

  private:
    CodeFile() = default;

    UniqueFd fd_;
    std::string path_;
    Root root_;
    FileOwner owner_;
    std::optional<gid_t> writers_;
    ProgramHeaders headers_;
    uint64_t device_ = 0, inode_ = 0, size_ = 0;
};

} // namespace auger
