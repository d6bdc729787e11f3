// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleTable: every file (and the kernel, the vdso, each process's generated code) in which
// addresses were seen. A file is opened as soon as its mapping is seen and the descriptor is kept,
// so that names come out right after the process has ended or the file was deleted or replaced.
// Used by one thread; what another needs crosses as a ModuleSource.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/elf/program_headers.h"
#include "loader/process/proc_maps.h"
#include "loader/process/root_folders.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace auger {

// These eight exist from the start; the others follow in the order in which they were first seen.
inline constexpr ModuleId unknown_module{0};
inline constexpr ModuleId kernel_module{1};
inline constexpr ModuleId vdso_module{2};
inline constexpr ModuleId syscall_module{3};
inline constexpr ModuleId waker_module{4};
inline constexpr ModuleId cut_module{5};
inline constexpr ModuleId task_module{6};
inline constexpr ModuleId go_label_module{7};

// All that a symbolizer needs of a module. Descriptors are duplicates; each may be empty.
struct ModuleSource {
    ModuleKind kind = ModuleKind::unknown;
    std::string path;        // as the target sees it
    UniqueFd file;           // kind file; kind jit: its jitdump file, if there is one
    UniqueFd root;           // the target's root folder (O_PATH) when it is not ours
    pid_t namespace_pid = 0; // kind jit: the number in /tmp/perf-PID.map
    uid_t uid = 0;           // kind jit: the target's user
    ModuleId renews{};       // kind jit: of which it is a later state; unknown_module: of none
    std::string error;       // why `file` is empty
};

// Where a symbolizer gets modules from.
class ModuleSources {
  public:
    virtual ~ModuleSources() = default;
    virtual const ModuleInfo& info(ModuleId id) const = 0;
    virtual ModuleSource source(ModuleId id) = 0;
};

class ModuleTable final : public ModuleSources {
  public:
    struct Limits {
        size_t open_files = 1024; // descriptors that are kept; the least recently used go first
        // Any user may map any number of files, or run any number of programs that generate code.
        // What comes beyond these numbers is one module, without names.
        size_t of_user = 8192;
        size_t all = 65'536; // a quarter of it for files of root and our user only
    };
    ModuleTable() : ModuleTable(Limits()) {}
    explicit ModuleTable(const Limits& limits);

    // The module behind a mapping of a file; opens it when it is new. Never fails: of a file that
    // cannot be opened the path is known, and source() says why there is no more.
    ModuleId file_module(pid_t pid, const Mapping& mapping);
    // A new module for the code that one image (exec) of a process generates. `dump`: where it has
    // its jitdump file mapped.
    ModuleId jit_module(pid_t pid, const Mapping* dump = nullptr);
    // Of a runtime's language, a file or all of it, which nobody opens: by its name alone.
    ModuleId runtime_module(ModuleKind kind, const std::string& path);
    // A module for what the same image generates from now on, so that code of the present and of
    // the past at one address are different locations.
    ModuleId renewed_jit_module(ModuleId of);

    // The module of an open file's identity (st_dev, st_ino) as last seen; unknown_module when no
    // mapping of it was seen.
    ModuleId find_file(uint64_t device, uint64_t inode) const;

    // Ids are dense from 0, so a stream can define them in order.
    const ModuleInfo& info(ModuleId id) const override { return modules_[id.index()].info; }
    size_t size() const { return modules_.size(); }
    // Of a file, or of the vdso; empty when it could not be read.
    const std::vector<ElfSegment>& segments(ModuleId id) const {
        return modules_[id.index()].segments;
    }
    // The address as linked; the offset itself when the file is no ELF file or has no such segment.
    uint64_t linked_address(ModuleId id, uint64_t file_offset) const;
    // Opens again what was closed meanwhile, if the same file is still to be had.
    ModuleSource source(ModuleId id) override;
    size_t open_files() const { return recent_.size(); }
    // How often something was mapped that has no module of its own, because its user has too many.
    uint64_t left_out() const { return left_out_; }
    const Limits& limits() const { return limits_; }

  private:
    struct Module {
        ModuleInfo info;
        pid_t pid = 0; // a process that has or had it mapped
        Mapping mapping{};
        uint64_t device = 0, inode = 0, size = 0; // identity of the open file
        int64_t modified_ns = 0;
        std::vector<ElfSegment> segments;
        std::string error;
        UniqueFd file;
        std::shared_ptr<const UniqueFd> root;
        pid_t namespace_pid = 0;
        uid_t uid = 0;
        ModuleId renews = unknown_module;
        bool given_up = false; // it has changed too often
        std::list<ModuleId>::iterator recent;
    };

    using Clock = std::chrono::steady_clock;
    // Of a file's content.
    struct Changes {
        Clock::time_point since{};
        size_t count = 0;
    };

    static bool changes_too_often(Changes& changes);
    ModuleId add(Module module);
    // Whether this user may have one more; then it is counted.
    bool may_have_one_more(uid_t user);
    // The module of all that the user has too many of.
    ModuleId rest_of(uid_t user);
    void keep_open(ModuleId id, UniqueFd file);
    bool is_file_of(const Module& module, int fd) const;

    const Limits limits_;
    std::vector<Module> modules_;
    // By device and inode as in maps, and the root (its module keeps the pointer good).
    using MappingKey = std::tuple<uint64_t, uint64_t, const UniqueFd*>;
    std::map<MappingKey, ModuleId> by_mapping_;
    std::map<MappingKey, Changes> changes_; // of what was known by then
    std::list<ModuleId> recent_;            // modules with an open file, most recently used first
    std::map<uid_t, size_t> of_user_;       // modules that are files or generated code
    std::map<uid_t, ModuleId> rest_;
    std::map<ModuleKind, std::map<std::string, ModuleId>> runtimes_; // by path
    uint64_t left_out_ = 0;
    RootFolders roots_;
};

} // namespace auger
