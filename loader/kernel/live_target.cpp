// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_target.h"

#include "loader/base/transaction.h"
#include "loader/kernel/bpf_calls.h"
#include "loader/process/container.h"
#include "loader/process/proc_info.h"

#include <bpf/bpf.h>

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <set>
#include <type_traits>

namespace auger {

namespace {

constexpr size_t remembered_processes = 4096;

std::string describe(const ExitStatus& status) {
    if (status.signaled)
        return fmt::format("killed by signal {} ({}){}", status.value, strsignal(status.value),
                           status.core_dumped ? ", core dumped" : "");
    return fmt::format("exit code {}", status.value);
}

// The kernel cuts names.
std::string_view comm_to_match(std::string_view name) {
    return name.substr(0, WIRE_COMM - 1);
}

template <typename Key>
std::vector<Key> keys_of(int fd) {
    std::vector<Key> keys;
    Key key = {};
    for (void* before = nullptr; bpf_map_get_next_key(fd, before, &key) == 0; before = &key)
        keys.push_back(key);
    return keys;
}

// Takes out what is not to be kept. Keys are collected first: a deletion may lead an iteration
// astray.
template <typename Key>
void remove_others(int fd, const std::set<Key>& kept) {
    for (const Key& present : keys_of<Key>(fd)) {
        if (!kept.contains(present))
            bpf_map_delete_elem(fd, &present);
    }
}

} // namespace

Result<void> LiveTarget::add(Prepared& prepared, pid_t pid) {
    auto comm = comm_of(pid);
    if (!comm || has_ended(pid))
        return Error{"observe process", std::to_string(pid),
                     comm ? "it has already exited" : "there is no such process",
                     "`ps -e` lists them"};
    auto process = process_of_thread(pid);
    if (process && *process != pid)
        return Error{"observe process", std::to_string(pid),
                     fmt::format("it is a thread of process {}", *process),
                     fmt::format("observe {} and `filter tid {}`", *process, pid)};
    if (pid == getpid())
        return Error{"observe process", std::to_string(pid), "that is auger itself", ""};
    auto stat = read_stat(pid);
    prepared.processes[pid] = {*comm, user_of(pid), true, "", stat ? stat->start_ticks : 0};
    return {};
}

std::string LiveTarget::user_of(pid_t pid) {
    const auto uid = uid_of(pid);
    return uid ? users_.of(*uid) : "";
}

std::vector<pid_t> LiveTarget::Prepared::pids() const {
    std::vector<pid_t> pids;
    for (const auto& [pid, process] : processes)
        pids.push_back(pid);
    return pids;
}

Result<void> LiveTarget::add_named(Prepared& prepared) {
    const TargetSpec& spec = prepared.spec;
    const auto pids = pids_by_name(spec.name);
    if (!pids)
        return pids.error();
    std::optional<uid_t> wanted_user;
    if (!spec.user.empty()) {
        const auto user = find_user(spec.user);
        if (!user)
            return user.error();
        wanted_user = prepared.condition.user = *user;
    }
    std::optional<Cgroup> wanted_group;
    if (!spec.cgroup.empty()) {
        auto groups = cgroups_by_name(spec.cgroup);
        if (!groups)
            return groups.error();
        wanted_group = std::move(groups->front()); // what is below it counts, too
        prepared.condition.cgroup = wanted_group->id;
    }
    for (const pid_t pid : *pids) {
        const auto user = uid_of(pid);
        if ((wanted_user && !(user && *user == *wanted_user)) ||
            (wanted_group && !is_in_group(pid, *wanted_group)))
            continue;
        (void)add(prepared, pid); // one that ended since is no matter
    }
    return {};
}

Result<LiveTarget::Prepared> LiveTarget::prepare(const TargetSpec& spec) {
    using Kind = TargetSpec::Kind;
    Prepared prepared{spec};
    if (spec.kind == Kind::pids) {
        for (pid_t pid : spec.pids) {
            if (auto added = add(prepared, pid); !added)
                return added.error();
        }
        if (spec.tree) {
            for (const pid_t pid : descendants_of(spec.pids))
                (void)add(prepared, pid); // one that ended since is no matter
        }
    } else if (spec.kind == Kind::name) {
        if (auto named = add_named(prepared); !named)
            return named.error();
    } else if (spec.kind == Kind::command) {
        auto path = find_command(spec.command.front());
        if (!path)
            return path.error();
        prepared.command_path = *path;
        LaunchOptions options;
        options.arguments = spec.command;
        options.user = invoking_user();
        // Only root may have to drop to somebody; what auger started ends with it.
        options.terminate_on_exit = true;
        options.starter = starter_;
        auto started = LaunchedProcess::start(options);
        if (!started)
            return started.error();
        prepared.command.emplace(std::move(*started));
        prepared.processes[prepared.command->pid()] = {
            spec.command.front(), user_of(prepared.command->pid()), true, "", 0};
    }
    return prepared;
}

Result<void> LiveTarget::set(Prepared prepared) {
    using Kind = TargetSpec::Kind;
    const TargetSpec& spec = prepared.spec;
    // First what comes, then what goes: a process that stays a target is one all the time.
    int targets = programs_.map_fd(MapKind::targets);
    int comms = programs_.map_fd(MapKind::target_comms);
    Transaction edit;
    auto enter = [&](int map, const auto& key, const auto& value) {
        std::remove_cvref_t<decltype(value)> before{};
        const bool known = bpf_map_lookup_elem(map, &key, &before) == 0;
        if (update_element(map, &key, &value) < 0)
            return false;
        edit.on_rollback([map, key, known, before] {
            if (known)
                bpf_map_update_elem(map, &key, &before, BPF_ANY);
            else
                bpf_map_delete_elem(map, &key);
        });
        return true;
    };
    std::set<uint32_t> kept_pids;
    for (const auto& [pid, process] : prepared.processes) {
        const auto key = static_cast<uint32_t>(pid);
        if (!enter(targets, key, uint32_t{1}))
            return system_error("observe process", std::to_string(pid));
        kept_pids.insert(key);
    }
    std::set<std::array<char, WIRE_COMM>> kept_comms;
    if (spec.kind == Kind::name) {
        std::array<char, WIRE_COMM> comm = {};
        comm_to_match(spec.name).copy(comm.data(), WIRE_COMM - 1);
        if (!enter(comms, comm, prepared.condition))
            return system_error("observe name", spec.name);
        kept_comms.insert(comm);
    }
    edit.commit();
    programs_.config().all_processes = spec.kind == Kind::all ? 1 : 0;
    remove_others(targets, kept_pids);
    remove_others(comms, kept_comms);
    programs_.renew_scope();

    spec_ = spec;
    processes_ = std::move(prepared.processes);
    command_ = std::move(prepared.command);
    command_path_ = std::move(prepared.command_path);
    command_started_ = false;
    command_ended_ = false;
    // One that ended just before the kernel knew it as a target is not announced, and its number
    // must not make a target of whoever gets it next.
    for (auto& [pid, process] : processes_) {
        if (is_there(pid, process))
            continue;
        process.running = false;
        const auto key = static_cast<uint32_t>(pid);
        bpf_map_delete_elem(targets, &key);
    }
    return {};
}

Result<void> LiveTarget::start_command() {
    if (!waiting_to_start())
        return {};
    command_started_ = true;
    auto released = command_->release();
    if (!released) {
        command_ended_ = true;
        on_exited(command_->pid());
    }
    return released;
}

std::string LiveTarget::name_of(pid_t pid) const {
    auto found = processes_.find(pid);
    return found != processes_.end() ? found->second.comm : "";
}

std::vector<pid_t> LiveTarget::running() const {
    std::vector<pid_t> pids;
    for (const auto& [pid, process] : processes_) {
        if (process.running)
            pids.push_back(pid);
    }
    return pids;
}

bool LiveTarget::is_running(pid_t pid) const {
    const auto found = processes_.find(pid);
    return found != processes_.end() && found->second.running;
}

bool LiveTarget::is_named(const std::string& comm) const {
    return spec_.kind == TargetSpec::Kind::name && comm == comm_to_match(spec_.name);
}

bool LiveTarget::ended() const {
    if (spec_.kind != TargetSpec::Kind::pids && spec_.kind != TargetSpec::Kind::command)
        return false;
    if (command_ && (!command_started_ || !command_ended_))
        return false;
    return running().empty();
}

TargetStatus LiveTarget::status() const {
    TargetStatus status{spec_, {}};
    for (const auto& [pid, process] : processes_)
        status.processes.push_back(
            {pid, process.comm, process.user, process.running, process.exit});
    return status;
}

void LiveTarget::on_started(pid_t pid, const std::string& comm) {
    // Of a target that forks without end only the recent processes are worth remembering.
    for (auto entry = processes_.begin();
         processes_.size() >= remembered_processes && entry != processes_.end();)
        entry = entry->second.running ? std::next(entry) : processes_.erase(entry);
    processes_[pid] = {comm, user_of(pid), true, "", 0};
}

void LiveTarget::on_exited(pid_t pid) {
    if (auto found = processes_.find(pid); found != processes_.end())
        found->second.running = false;
}

bool LiveTarget::is_there(pid_t pid, const Process& process) {
    if (has_ended(pid))
        return false;
    auto stat = read_stat(pid);
    return stat && (process.start_ticks == 0 || stat->start_ticks == process.start_ticks);
}

LiveTarget::Difference LiveTarget::compare_with_kernel() const {
    Difference difference;
    const std::vector<uint32_t> keys = keys_of<uint32_t>(programs_.map_fd(MapKind::targets));
    const std::set<uint32_t> present(keys.begin(), keys.end());
    for (uint32_t key : keys) {
        const auto known = processes_.find(static_cast<pid_t>(key));
        if (known == processes_.end() || !known->second.running)
            difference.born.push_back(static_cast<pid_t>(key));
    }
    for (const auto& [pid, process] : processes_) {
        if (process.running && !present.contains(static_cast<uint32_t>(pid)))
            difference.ended.push_back(pid);
    }
    return difference;
}

std::optional<std::string> LiveTarget::collect_command() {
    if (!command_ || command_ended_)
        return {};
    auto status = command_->exit_status();
    if (!status || !*status)
        return {};
    command_ended_ = true;
    on_exited(command_->pid());
    std::string text = describe(**status);
    processes_[command_->pid()].exit = text;
    return fmt::format("{} ({}): {}", command_->command(), command_->pid(), text);
}

} // namespace auger
