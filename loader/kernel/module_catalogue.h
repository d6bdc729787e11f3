// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleCatalogue: the files that the target maps as code, opened for matching probes.
// A file is known by device and inode, so that every process that maps it shares one entry; it
// stays open, so that a probe can be attached to exactly the file that was analysed. What has been
// written to since is read anew.
#pragma once

#include "loader/base/result.h"
#include "loader/probes/code_readers.h"
#include "loader/probes/unwind_proof.h"
#include "loader/process/file_content.h"
#include "loader/process/proc_maps.h"
#include "loader/process/root_folders.h"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace auger {

// Device and inode, as fstat() of the open file says.
using FileIdentity = std::pair<uint64_t, uint64_t>;

struct TargetModule {
    std::shared_ptr<const CodeFile> file;
    std::string path; // as the target sees it
    bool main_program = false;
    std::set<pid_t> pids; // of the target that map it
    FileIdentity mapped; // device and inode as /proc/PID/maps has them (btrfs and overlayfs differ)
    FileContent content; // of which all of this is true

    FileIdentity identity() const { return {file->device(), file->inode()}; }
};

class ModuleCatalogue {
  public:
    // `go_on`: see CodeReaders.
    ModuleCatalogue(std::shared_ptr<ConfinedProcesses> readers, GoOn go_on)
        : readers_(std::move(readers), std::move(go_on)) {}

    // What is in them.
    CodeReaders& readers() { return readers_; }
    // Modules of running processes; processes that are gone, and emulators, contribute nothing.
    std::vector<TargetModule> modules_of(std::span<const pid_t> pids);
    // Of those that processes mapped then, how many were not looked at: one user has too many.
    uint64_t left_out() const { return left_out_; }
    // Modules of a program that has not been started yet: itself and what it needs, as far as the
    // default folders of the dynamic linker have it. Nothing for what is no ELF file.
    std::vector<TargetModule> modules_of_program(const std::string& path);

    // The files that processes outside `pids` map as code, named as /proc/PID/maps does.
    static std::set<FileIdentity> mapped_by_others(std::span<const pid_t> pids);
    // prove_no_unwinding() over all that each process maps now. Code that no file backs (a JIT's),
    // that can be written to, or that the file does not call code, speaks against it.
    UnwindProof prove_no_unwinding_in(std::span<const pid_t> pids);

  private:
    struct Entry {
        std::shared_ptr<const CodeFile> file; // null: no ELF file, or could not be opened
        FileContent content{};                // that was read
    };
    // What processes have mapped as code.
    struct Use {
        FileIdentity file;
        pid_t pid; // the first, in our own root if there is one
        Mapping mapping;
        std::optional<RootFolders::Root> seen_in; // its root; nothing: it cannot be looked at
        RootFolders::Root root;                   // of all of them; null: ours, or not the same
        std::set<pid_t> pids{};
        std::set<FileIdentity> programs{}; // that they run
    };
    std::vector<Use> uses_of(std::span<const pid_t> pids);

    // For a process of the root `seen_in`. Debug files are looked for in our own root and in
    // `root`.
    const Entry& open(FileIdentity mapped, auto&& open_file, const std::string& path,
                      const RootFolders::Root& root,
                      const std::optional<RootFolders::Root>& seen_in);
    // As it was opened before, if it was.
    const Entry* known(FileIdentity mapped) const;

    RootFolders roots_;
    std::map<FileIdentity, Entry> entries_;
    uint64_t left_out_ = 0;
    int pauses_left_ = 0; // of this look
    CodeReaders readers_;
};

} // namespace auger
