// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/module_table.h"

#include "loader/process/proc_info.h"
#include "loader/process/safe_open.h"
#include "loader/symbols/vdso.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace auger {
namespace {

// Contents of one file, within such a time, that are modules of their own. A file can be another
// one at every look.
constexpr size_t most_contents = 256;
constexpr std::chrono::minutes contents_span{1};

// Of whom there may be any number.
constexpr size_t most_users = 4096;

// Descriptors are needed elsewhere too (links, rings, the symbolizer's own): take a quarter at
// most.
size_t within_limits(size_t wanted) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        wanted = std::min<size_t>(wanted, limit.rlim_cur / 4);
    return std::max<size_t>(wanted, 1);
}

int64_t nanoseconds(const timespec& time) {
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

} // namespace

ModuleTable::ModuleTable(const Limits& limits)
    : limits_{within_limits(limits.open_files), limits.of_user, limits.all} {
    const auto special = [this](ModuleKind kind, const char* name) {
        Module module;
        module.info = {kind, name, {}};
        add(std::move(module));
    };
    special(ModuleKind::unknown, "[unknown]");
    special(ModuleKind::kernel, "[kernel]");
    special(ModuleKind::vdso, "[vdso]");
    if (const auto image = vdso_image())
        if (auto headers = read_program_headers(image->get()))
            modules_.back().segments = std::move(headers->segments);
    special(ModuleKind::syscall, "[syscall]");
    special(ModuleKind::waker, "[waker]");
    special(ModuleKind::cut, "[stack cut]");
    special(ModuleKind::task, "[task]");
    special(ModuleKind::go_label, "[golabel]");
}

ModuleId ModuleTable::add(Module module) {
    module.recent = recent_.end();
    modules_.push_back(std::move(module));
    return ModuleId{static_cast<uint32_t>(modules_.size() - 1)};
}

// A quarter of all is kept for files of root and of our user: with subordinate user ids (subuid(5))
// one user has as many as he likes.
bool ModuleTable::may_have_one_more(uid_t user) {
    const bool is_ours = user == 0 || user == geteuid();
    const size_t room = is_ours ? limits_.all : limits_.all - limits_.all / 4;
    size_t& count = of_user_[user];
    if (modules_.size() >= room || (!is_ours && count >= limits_.of_user))
        return false;
    count++;
    return true;
}

ModuleId ModuleTable::rest_of(uid_t user) {
    left_out_++;
    if (rest_.size() >= most_users && !rest_.contains(user))
        return unknown_module;
    const auto [at, is_new] = rest_.try_emplace(user);
    if (is_new) {
        Module module;
        module.info = {ModuleKind::file, fmt::format("[further files of user {}]", user), {}};
        module.error = fmt::format("that user has more than {} files and programs",
                                   std::min(limits_.of_user, limits_.all));
        at->second = add(std::move(module));
    }
    return at->second;
}

bool ModuleTable::changes_too_often(Changes& changes) {
    const auto now = Clock::now();
    if (now - changes.since >= contents_span)
        changes = {now, 0};
    return ++changes.count >= most_contents;
}

void ModuleTable::keep_open(ModuleId id, UniqueFd file) {
    Module& module = modules_[id.index()];
    module.file = std::move(file);
    recent_.push_front(id);
    module.recent = recent_.begin();
    while (recent_.size() > limits_.open_files) {
        Module& oldest = modules_[recent_.back().index()];
        oldest.file.reset();
        oldest.recent = recent_.end();
        recent_.pop_back();
    }
}

ModuleId ModuleTable::find_file(uint64_t device, uint64_t inode) const {
    for (auto id = static_cast<uint32_t>(modules_.size()); id-- > 0;)
        if (modules_[id].inode == inode && modules_[id].device == device && inode != 0)
            return ModuleId{id};
    return unknown_module;
}

ModuleId ModuleTable::file_module(pid_t pid, const Mapping& mapping) {
    // Of a file that several roots share each has a module: the names that one of them brings along
    // are not the others' names.
    const auto root_of = roots_.of(pid);
    const RootFolders::Root root = root_of.value_or(nullptr);
    const std::tuple key{mapping.device, mapping.inode, root.get()};
    struct stat status {};
    const auto is_same = [&status](const Module& module) {
        return status.st_dev == module.device && status.st_ino == module.inode &&
               static_cast<uint64_t>(status.st_size) == module.size &&
               nanoseconds(status.st_mtim) == module.modified_ns;
    };
    const auto known = by_mapping_.find(key);
    if (known != by_mapping_.end()) {
        Module& module = modules_[known->second.index()];
        if (module.given_up && Clock::now() - changes_[key].since < contents_span)
            return known->second;
        // While we hold the file its inode number cannot be given to another; it may have been
        // overwritten in place, though.
        if (module.file && fstat(module.file.get(), &status) == 0 && is_same(module)) {
            recent_.splice(recent_.begin(), recent_, module.recent);
            return known->second;
        }
    }
    auto file = open_mapped_file(pid, mapping);
    // Of a process that is gone and mapped no file of ours: its root is that of others with the
    // same file.
    if (!root_of && !file && known == by_mapping_.end())
        if (const auto same = by_mapping_.lower_bound(key);
            same != by_mapping_.end() && std::get<0>(same->first) == mapping.device &&
            std::get<1>(same->first) == mapping.inode)
            return same->second;
    if (known != by_mapping_.end()) {
        Module& module = modules_[known->second.index()];
        const bool same = file && fstat(file->get(), &status) == 0 && is_same(module);
        if (same && !module.file)
            keep_open(known->second, *std::move(file));
        // Without a look at the file there is no reason to think it another.
        if (same || (!file && module.info.path == mapping.path))
            return known->second;
    }

    Module module;
    module.info = {ModuleKind::file, mapping.path, {}};
    module.pid = pid;
    module.mapping = mapping;
    module.root = root;
    module.given_up = known != by_mapping_.end() && changes_too_often(changes_[key]);
    if (module.given_up)
        file = Error{"read", mapping.path, "it has changed too often", {}};
    if (!file)
        module.error = file.error().message();
    else if (fstat(file->get(), &status) == 0) {
        module.device = status.st_dev;
        module.inode = status.st_ino;
        module.size = static_cast<uint64_t>(status.st_size);
        module.modified_ns = nanoseconds(status.st_mtim);
        if (auto headers = read_program_headers(file->get())) {
            module.info.build_id = std::move(headers->build_id);
            module.segments = std::move(headers->segments);
        }
    }
    const auto runner = file ? Result<uid_t>(status.st_uid) : uid_of(pid);
    const uid_t user = runner ? *runner : 0;
    if (!may_have_one_more(user))
        return rest_of(user);
    const ModuleId id = add(std::move(module));
    by_mapping_[key] = id;
    if (file)
        keep_open(id, *std::move(file));
    return id;
}

ModuleId ModuleTable::runtime_module(ModuleKind kind, const std::string& path) {
    auto& files = runtimes_[kind];
    const bool is_room = files.size() < limits_.of_user;
    const auto [at, is_new] = files.try_emplace(is_room ? path : "[further files]");
    if (is_new) {
        Module module;
        module.info = {kind, at->first, {}};
        at->second = add(std::move(module));
    }
    return at->second;
}

ModuleId ModuleTable::jit_module(pid_t pid, const Mapping* dump) {
    Module module;
    module.info = {ModuleKind::jit, "[jit]", {}};
    module.pid = pid;
    module.root = roots_.of(pid).value_or(nullptr);
    const auto inner = namespace_pid(pid);
    const auto uid = uid_of(pid);
    module.namespace_pid = inner ? *inner : 0; // gone already: no file is looked for
    module.uid = uid ? *uid : 0;
    if (!may_have_one_more(module.uid))
        return rest_of(module.uid);
    if (!dump)
        return add(std::move(module));
    module.mapping = *dump;
    auto file = open_mapped_file(pid, *dump);
    struct stat status;
    if (!file) {
        module.error = file.error().message();
    } else if (fstat(file->get(), &status) == 0) {
        module.device = status.st_dev;
        module.inode = status.st_ino;
    }
    const ModuleId id = add(std::move(module));
    if (file)
        keep_open(id, *std::move(file));
    return id;
}

ModuleId ModuleTable::renewed_jit_module(ModuleId of) {
    const Module& old = modules_[of.index()];
    if (!may_have_one_more(old.uid))
        return rest_of(old.uid);
    Module module;
    module.info = old.info;
    module.pid = old.pid;
    module.root = old.root;
    module.namespace_pid = old.namespace_pid;
    module.uid = old.uid;
    module.renews = of;
    return add(std::move(module));
}

bool ModuleTable::is_file_of(const Module& module, int fd) const {
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_dev == module.device &&
           status.st_ino == module.inode &&
           // A jitdump file is written to all the time.
           (module.info.kind == ModuleKind::jit ||
            nanoseconds(status.st_mtim) == module.modified_ns);
}

uint64_t ModuleTable::linked_address(ModuleId id, uint64_t file_offset) const {
    const auto& segments = modules_[id.index()].segments;
    // Segments may share a page of the file, so the one with code comes first.
    for (const bool executable : {true, false})
        for (const ElfSegment& segment : segments)
            if (segment.executable == executable && file_offset >= segment.offset &&
                file_offset - segment.offset < segment.file_size)
                return segment.address + (file_offset - segment.offset);
    return file_offset;
}

ModuleSource ModuleTable::source(ModuleId id) {
    Module& module = modules_[id.index()];
    ModuleSource source;
    source.kind = module.info.kind;
    source.path = module.info.path;
    source.namespace_pid = module.namespace_pid;
    source.uid = module.uid;
    source.root = duplicate(module.root ? module.root->get() : -1);
    if (module.root && !source.root) { // without it the file would be taken for one of our own root
        source.error = system_error("open the root of", module.info.path).message();
        if (source.kind == ModuleKind::jit)
            source.kind = ModuleKind::unknown;
        return source;
    }
    source.renews = module.renews;
    const bool has_file = module.info.kind == ModuleKind::file || module.mapping.inode != 0;
    if (!has_file)
        return source;
    if (module.file) {
        recent_.splice(recent_.begin(), recent_, module.recent);
    } else if (module.error.empty()) {
        auto file = open_mapped_file(module.pid, module.mapping);
        if (file && is_file_of(module, file->get()))
            keep_open(id, *std::move(file));
        else
            source.error = "open " + module.mapping.path + ": no longer to be had";
    } else {
        source.error = module.error;
    }
    source.file = duplicate(module.file.get());
    return source;
}

} // namespace auger
