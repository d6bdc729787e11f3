// SPDX-License-Identifier: GPL-3.0-or-later
// What /proc says of a process: threads, names, start, parent, executable, control group, and who
// asked for auger under sudo. Names are the target's and returned raw: escape them at the output.
#pragma once

#include "loader/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct ProcessStat {
    pid_t parent = 0;
    uint64_t start_ticks = 0; // since boot, in clock ticks: with the pid, the identity of a process
    uint64_t cpu_ticks = 0;   // user and kernel time of all threads so far, in clock ticks
    uint32_t threads = 0;
    char state = '?';    // as in /proc/PID/stat: R, S, D, Z, ...
    bool kernel = false; // a thread of the kernel's own, which has no program
    std::string comm;
};

// Text of /proc/PID/stat; nothing when it does not parse. The command name may hold ") " itself.
std::optional<ProcessStat> parse_stat(std::string_view text);
Result<ProcessStat> read_stat(pid_t pid);

// No thread of the process is left, though its parent may not have waited for it yet. One whose
// first thread has ended stays a process while others run.
bool has_ended(pid_t pid);
// Thread ids, ascending. Fails when the process is gone.
Result<std::vector<pid_t>> threads_of(pid_t pid);
// A thread of the process that has its memory and files: the first one may have ended before the
// others, and then has no mappings, program or root in /proc. `pid` when the process has ended.
pid_t living_thread(pid_t pid);
// Command name of a thread or process, without the newline.
Result<std::string> comm_of(pid_t tid);
// How often a thread has gone off its CPU to wait for something.
Result<uint64_t> waits_of(pid_t tid);
// How often it has gone off its CPU, to wait or because another one came to it.
Result<uint64_t> switches_of(pid_t tid);
// How often a thread has been given a CPU, and for how long in all.
struct OnCpu {
    uint64_t ns = 0, times = 0;
};
Result<OnCpu> on_cpu(pid_t tid);
// Path of the executable as the kernel prints it, without a trailing " (deleted)".
Result<std::string> exe_path(pid_t pid);
// Pids of all processes (not threads), ascending.
Result<std::vector<pid_t>> all_pids();
// Children of these processes, their children, and so on, that have not ended; without those given,
// auger and its own. Ascending.
std::vector<pid_t> descendants_of(std::span<const pid_t> pids);
// Processes whose command name, or base name of the executable, equals `name`; never auger itself.
Result<std::vector<pid_t>> pids_by_name(std::string_view name);
// The process that a thread belongs to; fails when it is gone.
Result<pid_t> process_of_thread(pid_t tid);
// The pid in the process's innermost pid namespace (the number the target itself sees).
Result<pid_t> namespace_pid(pid_t pid);
// What failed for the process by the system's word, for which a file of /proc/PID that is not there
// means that the process is not.
Error process_error(const std::string& operation, pid_t pid, std::string cause);
// Real uid of the process.
Result<uid_t> uid_of(pid_t pid);
// Whether seccomp(2) restricts the process's system calls; also where that is not known.
bool filters_system_calls(pid_t pid);

// Control groups, version 2. The id is what bpf_get_current_cgroup_id() returns.
struct Cgroup {
    std::string path; // below the mount, begins with '/'
    uint64_t id;
};
// Mount point of the cgroup2 file system in the text of /proc/mounts; nothing when there is none.
std::optional<std::string> cgroup2_mount(std::string_view mounts);
// Path of a process's group in the text of /proc/PID/cgroup; nothing when it is in none.
std::optional<std::string> cgroup2_path(std::string_view text);
Result<std::string> cgroup_path_of(pid_t pid);
Result<Cgroup> cgroup_of(pid_t pid);
// Whether a process is in the group or below it.
bool is_in_group(pid_t pid, const Cgroup& group);
// `path` may be relative to the mount ("system.slice/x.service") or absolute with the mount.
Result<Cgroup> cgroup_by_path(std::string_view path);
// Where cgroup2 is mounted here.
Result<std::string> cgroup_mount();

// The user who called sudo.
struct InvokingUser {
    uid_t uid;
    gid_t gid;
    std::string name;
    std::string home;
};
// Nothing unless auger runs as root with a valid SUDO_UID and SUDO_GID.
std::optional<InvokingUser> invoking_user();
// That user's groups. Allocates, so it is asked before a fork.
std::vector<gid_t> groups_of(const InvokingUser& user);
// Whose business auger's is: root's, that of whom it runs as, and the invoking user's.
std::vector<uid_t> our_users();

} // namespace auger
