// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleTable: every file (and the kernel, the vdso, each process's generated code) in which
// addresses were seen. A file is opened as soon as its mapping is seen and the descriptor is kept,
// so that names come out right after the process has ended or the file was deleted or replaced.
// Used by one thread; what another needs crosses as a ModuleSource.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/process/proc_maps.h"

#include <sys/types.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace auger {

enum class ModuleId : uint32_t {};
inline constexpr ModuleId unknown_module{0};
inline constexpr ModuleId kernel_module{1};
inline constexpr ModuleId vdso_module{2};

enum class ModuleKind : uint8_t {
    unknown, // an address in no mapping
    kernel,
    vdso,
    file,
    generated, // anonymous executable memory of one process, perhaps named by a perf-map file
};

struct ModuleInfo {
    ModuleKind kind = ModuleKind::unknown;
    std::string path;    // as the target sees it; "[kernel]", "[vdso]", "[jit]"
    uint64_t device = 0; // of the open file (fstat), 0 when it could not be opened
    uint64_t inode = 0;
    uint64_t size = 0;       // bytes
    int64_t modified_ns = 0; // st_mtim
    std::string open_error;  // why there is no file behind it; empty when there is
    pid_t pid = 0;           // a process that had it mapped; the owner for `generated`
};

// A place in a module: the file offset for files, the image offset for the vdso, the address itself
// for the kernel and generated code.
struct Location {
    ModuleId module = unknown_module;
    uint64_t offset = 0;
    bool operator==(const Location&) const = default;
};
struct LocationHash {
    size_t operator()(const Location& at) const {
        return size_t((at.offset ^ uint64_t(at.module) << 48) * 0x9e3779b97f4a7c15ULL >> 16);
    }
};

// All that a symbolizer needs of a module. Descriptors are duplicates of its own; either may be
// empty.
struct ModuleSource {
    ModuleKind kind = ModuleKind::unknown;
    std::string path;
    UniqueFd file;           // kind file and vdso
    UniqueFd root;           // O_PATH of the target's root folder when it differs from ours
    pid_t namespace_pid = 0; // kind generated: the number in /tmp/perf-PID.map
    uid_t uid = 0;           // kind generated: the target's user
    std::string error;       // why `file` is empty
};

class ModuleTable {
  public:
    // At most `open_files` descriptors are kept, the least recently used are closed first.
    explicit ModuleTable(size_t open_files = 1024);

    // The module behind a mapping of a file; opens it when it is new. Never fails: a file that
    // cannot be opened is a module with `open_error`.
    ModuleId file_module(pid_t pid, const Mapping& mapping);
    // The generated code of a process; a new one for each image (exec) of it.
    ModuleId generated_module(pid_t pid);

    const ModuleInfo& info(ModuleId id) const;
    size_t size() const { return modules_.size(); }
    // Opens again what was closed meanwhile, if the same file is still to be had.
    ModuleSource source(ModuleId id);
    // Lower-case hexadecimal; empty when the module has none or cannot be read.
    std::string build_id(ModuleId id);

  private:
    struct Module {
        ModuleInfo info;
        Mapping mapping{};
        UniqueFd file;
        std::shared_ptr<UniqueFd> root;
        pid_t namespace_pid = 0;
        uid_t uid = 0;
        std::list<ModuleId>::iterator recent;
    };
    struct FileKey {
        uint64_t device, inode;
        auto operator<=>(const FileKey&) const = default;
    };

    ModuleId add(Module module);
    void keep_open(ModuleId id, UniqueFd file);
    std::shared_ptr<UniqueFd> root_of(pid_t pid);

    size_t open_files_;
    std::vector<Module> modules_;
    std::map<FileKey, ModuleId> by_mapping_; // device and inode as maps prints them
    std::list<ModuleId> recent_;             // modules with an open file, most recent first
    std::map<std::string, std::weak_ptr<UniqueFd>> roots_; // by mount namespace and root inode
};

} // namespace auger
