// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleCatalogue: the files that the target maps as code, opened and indexed, for matching probes.
// A file is known by device and inode, so that every process that maps it shares one entry; it
// stays open, so that a probe can be attached to exactly the file that was analysed. What has been
// written to since is read anew.
#pragma once

#include "loader/base/result.h"
#include "loader/elf/elf_file.h"
#include "loader/elf/function_index.h"
#include "loader/probes/switch_cache.h"
#include "loader/probes/unwind_proof.h"
#include "loader/process/file_content.h"
#include "loader/process/proc_maps.h"
#include "loader/process/root_folders.h"
#include "loader/symbols/module_debug.h"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace auger {

// Device and inode, as fstat() of the open file says.
using FileIdentity = std::pair<uint64_t, uint64_t>;

struct TargetModule {
    std::shared_ptr<const ElfFile> file;
    std::shared_ptr<const FunctionIndex> index;
    std::shared_ptr<ModuleDebug> debug; // its line table
    std::string path;                   // as the target sees it
    bool main_program = false;
    std::set<pid_t> pids; // of the target that map it
    FileIdentity mapped; // device and inode as /proc/PID/maps has them (btrfs and overlayfs differ)
    FileContent content; // of which all of this is true

    FileIdentity identity() const { return {file->device(), file->inode()}; }
};

class ModuleCatalogue {
  public:
    // Modules of running processes; processes that are gone, and emulators, contribute nothing.
    std::vector<TargetModule> modules_of(std::span<const pid_t> pids);
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
        std::shared_ptr<const ElfFile> file; // null: no ELF file, or could not be opened
        std::shared_ptr<const FunctionIndex> index;
        std::shared_ptr<ModuleDebug> debug;
        RootFolders::Root root; // that debug files were looked for in
        FileContent content{};  // that was read
    };
    // What processes have mapped as code.
    struct Use {
        FileIdentity file;
        pid_t pid; // the first, in our own root if there is one
        Mapping mapping;
        bool in_our_root;       // `pid`
        RootFolders::Root root; // of all of them; null: ours, or not the same
        std::set<pid_t> pids{};
        std::set<FileIdentity> programs{}; // that they run
    };
    std::vector<Use> uses_of(std::span<const pid_t> pids);

    Entry& open(FileIdentity mapped, auto&& open_file, const std::string& path);
    // Looks for debug files in our own root and in this one.
    TargetModule describe(Entry& entry, const std::string& path, const RootFolders::Root& root);

    RootFolders roots_;
    std::map<FileIdentity, Entry> entries_;
    SwitchCache switches_ = SwitchCache::of_user();
};

} // namespace auger
