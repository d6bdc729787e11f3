// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/module_catalogue.h"

#include "loader/arch/arch.h"
#include "loader/process/emulator.h"
#include "loader/process/proc_info.h"
#include "loader/process/proc_maps.h"
#include "loader/process/safe_open.h"

#include ARCH(machine.h)

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <deque>
#include <thread>

namespace auger {

namespace {

constexpr size_t most_libraries = 1000; // of one program
// Any user can map files faster than they are looked at, and each costs a descriptor. Files that
// one user's processes map, and of those the ones that others than root may have written.
constexpr size_t most_mapped = 4096, most_of_owner = 1000;
// Files may have been written a moment ago, one after the other; by who means harm, all the time.
constexpr int most_pauses = 5;

FileIdentity identity_of(int fd) {
    struct stat status = {};
    return fstat(fd, &status) == 0 ? FileIdentity{status.st_dev, status.st_ino} : FileIdentity{};
}

FileIdentity identity_of(const std::string& path) {
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 ? FileIdentity{status.st_dev, status.st_ino}
                                            : FileIdentity{};
}

FileIdentity program_of(pid_t pid) {
    FileIdentity program = identity_of(fmt::format("/proc/{}/exe", pid));
    return program.second ? program : identity_of(fmt::format("/proc/{}/exe", living_thread(pid)));
}

// A file that was written a moment ago could be written again and still bear the same time: it is
// waited for, if there is a pause left, or looked at the next time.
Result<FileContent> settled_content(int fd, int& pauses_left) {
    auto content = FileContent::of(fd);
    if (!content || !content->just_changed())
        return content;
    if (pauses_left == 0)
        return Error{"look at file", {}, "it keeps changing", {}};
    pauses_left--;
    std::this_thread::sleep_for(FileContent::clock_step);
    return FileContent::of(fd);
}

// Whether the pages lie in one of the file's executable segments.
bool is_code(const CodeFile& file, const Mapping& mapping) {
    constexpr uint64_t page = 4096;
    const uint64_t end = mapping.offset + (mapping.end - mapping.start);
    return std::ranges::any_of(file.segments(), [&](const ElfSegment& segment) {
        return segment.executable && mapping.offset >= segment.offset / page * page &&
               end <= (segment.offset + segment.file_size + page - 1) / page * page;
    });
}

} // namespace

const ModuleCatalogue::Entry* ModuleCatalogue::known(FileIdentity mapped) const {
    const auto found = entries_.find(mapped);
    if (found == entries_.end() || !found->second.file)
        return nullptr;
    const auto now = FileContent::of(found->second.file->fd());
    return now && *now == found->second.content ? &found->second : nullptr;
}

const ModuleCatalogue::Entry&
ModuleCatalogue::open(FileIdentity mapped, auto&& open_file, const std::string& path,
                      const RootFolders::Root& root,
                      const std::optional<RootFolders::Root>& seen_in) {
    Entry& entry = entries_[mapped];
    if (known(mapped) && entry.file->root() == root)
        return entry;
    // Others that use what was there before keep it.
    entry = {};
    if (auto fd = open_file()) {
        auto content = settled_content(fd->get(), pauses_left_);
        auto file = CodeFile::open(std::move(*fd), path, root, seen_in);
        if (content && file) {
            entry.content = *content;
            entry.file = std::move(file);
        }
    }
    return entry;
}

std::vector<ModuleCatalogue::Use> ModuleCatalogue::uses_of(std::span<const pid_t> pids) {
    std::vector<Use> uses;
    std::map<FileIdentity, size_t> known;
    std::map<uid_t, size_t> of_user;
    for (pid_t pid : pids) {
        const auto uid = uid_of(pid);
        const uid_t user = uid ? *uid : 0;
        auto maps = read_maps(pid);
        if (!maps || !emulator_of(pid, *maps).empty())
            continue;
        const FileIdentity program = program_of(pid);
        const std::optional<RootFolders::Root> seen_in = roots_.of(pid);
        const RootFolders::Root root = seen_in.value_or(nullptr);
        const auto is_ours = [](const auto& seen) { return seen && !*seen; };
        for (const Mapping& mapping : *maps) {
            if (!mapping.executable || !mapping.inode)
                continue;
            const FileIdentity file{mapping.device, mapping.inode};
            if (user != 0 && !known.contains(file) && ++of_user[user] > most_mapped) {
                left_out_++;
                continue;
            }
            const auto [at, is_new] = known.try_emplace(file, uses.size());
            if (is_new)
                uses.push_back({file, pid, mapping, seen_in, root});
            Use& use = uses[at->second];
            use.pids.insert(pid);
            use.programs.insert(program);
            if (is_ours(seen_in) && !is_ours(use.seen_in)) {
                use.pid = pid;
                use.mapping = mapping;
                use.seen_in = seen_in;
            }
            // What one of several roots brings along must not name what the others run.
            if (use.root != root)
                use.root = nullptr;
        }
    }
    return uses;
}

std::vector<TargetModule> ModuleCatalogue::modules_of(std::span<const pid_t> pids) {
    std::vector<TargetModule> modules;
    std::map<uid_t, size_t> of_owner;
    left_out_ = 0;
    pauses_left_ = most_pauses;
    for (Use& use : uses_of(pids)) {
        const Entry& entry = open(
            use.file, [&] { return open_mapped_file(use.pid, use.mapping); }, use.mapping.path,
            use.root, use.seen_in);
        if (!entry.file)
            continue;
        const FileOwner& owner = entry.file->owner();
        if (owner.kind != FileOwner::Kind::trusted && ++of_owner[owner.user.uid] > most_of_owner) {
            left_out_++;
            continue;
        }
        TargetModule& module = modules.emplace_back();
        module.file = entry.file;
        module.path = use.mapping.path;
        module.content = entry.content;
        module.mapped = use.file;
        module.main_program = use.programs.contains(module.identity());
        module.pids = std::move(use.pids);
    }
    // What nobody has any more need not stay open.
    std::erase_if(entries_, [](const auto& entry) {
        return !entry.second.file || entry.second.file.use_count() == 1;
    });
    // The main programs first, as they are searched first.
    std::stable_partition(modules.begin(), modules.end(),
                          [](const TargetModule& module) { return module.main_program; });
    return modules;
}

std::vector<TargetModule> ModuleCatalogue::modules_of_program(const std::string& path) {
    std::vector<TargetModule> modules;
    std::set<std::string> seen = {path};
    std::deque<std::string> waiting = {path};
    pauses_left_ = most_pauses;
    while (!waiting.empty()) {
        std::string name = waiting.front();
        waiting.pop_front();
        Result<UniqueFd> fd = open_regular(name);
        if (!fd)
            continue;
        FileIdentity identity = identity_of(fd->get());
        const Entry& entry = open(
            identity, [&] { return std::move(fd); }, name, nullptr, RootFolders::Root());
        if (!entry.file)
            continue;
        const bool first = modules.empty();
        TargetModule& module = modules.emplace_back();
        module.file = entry.file;
        module.path = name;
        module.content = entry.content;
        module.main_program = first;
        module.mapped = identity;
        const auto libraries = readers_.needed(module.file);
        for (const std::string& needed : libraries ? *libraries : std::vector<std::string>()) {
            if (needed.find('/') != needed.npos || modules.size() + waiting.size() > most_libraries)
                continue;
            for (const char* folder : library_folders) {
                std::string candidate = fmt::format("{}/{}", folder, needed);
                if (!identity_of(candidate).second)
                    continue;
                if (seen.insert(needed).second)
                    waiting.push_back(candidate);
                break;
            }
        }
    }
    return modules;
}

std::set<FileIdentity> ModuleCatalogue::mapped_by_others(std::span<const pid_t> pids) {
    std::set<FileIdentity> mapped;
    const std::set<pid_t> own(pids.begin(), pids.end());
    const auto all = all_pids();
    for (pid_t pid : all ? *all : std::vector<pid_t>()) {
        if (own.contains(pid))
            continue;
        const auto maps = read_maps(pid);
        for (const Mapping& mapping : maps ? *maps : std::vector<Mapping>()) {
            if (mapping.executable && mapping.inode)
                mapped.emplace(mapping.device, mapping.inode);
        }
    }
    return mapped;
}

UnwindProof ModuleCatalogue::prove_no_unwinding_in(std::span<const pid_t> pids) {
    std::vector<MappedModule> mapped;
    std::set<FileIdentity> seen;
    pauses_left_ = most_pauses;
    for (pid_t pid : pids) {
        auto maps = read_maps(pid);
        if (!maps && has_ended(pid))
            continue;
        if (!maps)
            return {false, fmt::format("what process {} has mapped cannot be read: {}", pid,
                                       maps.error().cause)};
        const FileIdentity program = program_of(pid);
        const std::optional<RootFolders::Root> root = roots_.of(pid);
        for (const Mapping& mapping : *maps) {
            // The last one is where the kernel steps over our own probes.
            if (!mapping.executable || mapping.path == "[vdso]" || mapping.path == "[vsyscall]" ||
                (mapping.path == "[uprobes]" && !mapping.inode))
                continue;
            if (!mapping.inode)
                return {false, fmt::format("process {} runs code that no file backs", pid)};
            if (mapping.writable || mapping.shared)
                return {false, fmt::format("process {} runs code in {} that can be written to", pid,
                                           mapping.path)};
            const FileIdentity mapped_file{mapping.device, mapping.inode};
            const Entry* entry = known(mapped_file);
            if (!entry)
                entry = &open(
                    mapped_file, [&] { return open_mapped_file(pid, mapping); }, mapping.path,
                    root.value_or(nullptr), root);
            const std::shared_ptr<const CodeFile>& file = entry->file;
            if (file && !is_code(*file, mapping))
                return {false,
                        fmt::format("process {} runs what is not code of {}", pid, mapping.path)};
            if (!seen.insert(mapped_file).second)
                continue;
            const bool main_program =
                file && FileIdentity{file->device(), file->inode()} == program;
            mapped.push_back({file, mapping.path, main_program});
        }
    }
    if (mapped.empty())
        return {false, "no process to look at yet"};
    return prove_no_unwinding(mapped, readers_);
}

} // namespace auger
