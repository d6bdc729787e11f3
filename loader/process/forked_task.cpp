// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/forked_task.h"

#include "loader/base/guarded.h"
#include "loader/process/capabilities.h"
#include "loader/process/landlock.h"
#include "loader/process/proc_info.h"
#include "loader/process/safe_open.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <linux/close_range.h>

#include <cstring>

namespace auger {
namespace {

constexpr int out_fd = 3; // in the child
constexpr int failed = 1; // exit code: the file holds the message
constexpr int niceness = 10;
constexpr size_t longest_message = 64 << 10;

void limit(int resource, uint64_t most) {
    const rlimit both{most, most};
    setrlimit(resource, &both);
}

uint64_t nanoseconds(const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(time.tv_usec) * 1'000;
}

// Who called sudo, found before the fork: another thread may be at the user data base.
struct Owner {
    std::optional<InvokingUser> user = invoking_user();
    std::vector<gid_t> groups = user ? groups_of(*user) : std::vector<gid_t>();
};

void end_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(failed);
}

bool give_up_rights(const Owner& owner, bool makes_files) {
    if (owner.user) {
        const uid_t uid = owner.user->uid;
        const gid_t gid = owner.user->gid;
        set_effective_capabilities(permitted_capabilities());
        if (setgroups(owner.groups.size(), owner.groups.data()) != 0 ||
            setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0)
            return false;
    }
    if (!keep_capabilities(makes_files && !owner.user ? capability(CAP_DAC_OVERRIDE) : 0))
        return false;
    if (!makes_files)
        give_up_file_names();
    return true;
}

[[noreturn]] void run_child(const char* name, int out, pid_t parent, const Owner& owner,
                            const ForkedTask::Work& work, const ForkedLimits& limits) {
    end_with(parent);
    // Before anything else: what auger holds in the kernel must not be held here.
    if (out != out_fd)
        dup2(out, out_fd);
    close_range(out_fd + 1, ~0u, 0);
    prctl(PR_SET_NAME, name);
    // Keys are meant for the console, and so is what ends a service or a terminal, which all of its
    // processes get: auger waits for this one then, and ends it by its own end. A write beyond the
    // limit is an error, not the end.
    for (const int ignored : {SIGINT, SIGQUIT, SIGTSTP, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
        signal(ignored, SIG_IGN);
    for (const int plain : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
        signal(plain, SIG_DFL);
    setpriority(PRIO_PROCESS, 0, niceness);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, limits.cpu_seconds);
    limit(RLIMIT_FSIZE, limits.file_bytes);
    const bool powerless = give_up_rights(owner, limits.makes_files);
    end_with(parent); // a change of user has undone it
    const Result<void> done =
        powerless ? guarded([&] { return work(out_fd); })
                  : Error{"give up rights", "", "the kernel refuses", "", Error::Kind::failed};
    if (done)
        _exit(0);
    const std::string message = done.error().message();
    if (ftruncate(out_fd, 0) == 0)
        (void)!pwrite(out_fd, message.data(), std::min(message.size(), longest_message), 0);
    _exit(failed);
}

} // namespace

Result<ForkedTask> ForkedTask::start(const char* name, const Work& work,
                                     const ForkedLimits& limits) {
    UniqueFd out(memfd_create(name, MFD_CLOEXEC));
    if (!out)
        return system_error("make room for the result", name);
    const pid_t parent = getpid();
    const Owner owner;
    const pid_t pid = fork();
    if (pid < 0)
        return system_error("fork", name);
    if (pid == 0)
        run_child(name, out.get(), parent, owner, work, limits);
    // A child that has ended already is there until it is waited for.
    UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!process) {
        const int error = errno;
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
        return system_error("watch", name, "", error);
    }
    return ForkedTask(std::move(process), std::move(out));
}

ForkedTask::~ForkedTask() {
    if (!process_)
        return;
    syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
    (void)take();
}

bool ForkedTask::ended() const {
    pollfd process{process_.get(), POLLIN, 0};
    return poll(&process, 1, 0) > 0;
}

Result<UniqueFd> ForkedTask::take() {
    siginfo_t info{};
    rusage used{};
    // The C library's waitid() does not tell what was used.
    while (syscall(SYS_waitid, P_PIDFD, process_.get(), &info, WEXITED, &used) != 0) {
        if (errno != EINTR)
            return system_error("wait for", "the writing process");
    }
    process_.reset();
    cpu_ns_ = nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime);
    if (info.si_code != CLD_EXITED)
        return Error{"",
                     "",
                     fmt::format("the writing process was ended by {}",
                                 info.si_status == SIGXCPU ? "its limit of CPU time"
                                                           : strsignal(info.si_status)),
                     {}};
    if (info.si_status == 0)
        return std::move(out_);
    auto message = read_all(out_.get(), longest_message);
    return Error{"", "", message ? std::move(*message) : message.error().message(), {}};
}

} // namespace auger
