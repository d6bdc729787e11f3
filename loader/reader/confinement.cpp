// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/confinement.h"

#include "loader/process/capabilities.h"
#include "loader/process/confined_memory.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>

namespace auger {
namespace {

// A user of their own, whom no account has: others' processes of the same user could stop and end
// them. Where users are numbered otherwise (in a container, say) it has to be nobody.
constexpr uid_t reader_user = 2'147'418'222, nobody = 65534;
constexpr uint64_t most_files = 16'384; // descriptors that it can be handed

// Nobody raises what has been limited already.
void limit(__rlimit_resource what, uint64_t value) {
    rlimit both{};
    if (getrlimit(what, &both) != 0)
        return;
    both.rlim_cur = both.rlim_max = std::min<uint64_t>(value, both.rlim_max);
    setrlimit(what, &both);
}

void set_limits(const ConfinedLimits& limits, uint64_t written) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, written);
    limit(RLIMIT_NOFILE, most_files);
    limit(RLIMIT_CPU, limits.cpu_seconds);
#ifndef __SANITIZE_ADDRESS__ // which reserves terabytes of addresses
    limit(RLIMIT_AS, confined_memory_limit(limits.memory));
#endif
}

constexpr int namespaces = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

// What its launcher has kept. Only who may kill others ends what is another user's.
bool may_change_user() {
    return has_capability(CAP_SETUID) && has_capability(CAP_SETGID) && has_capability(CAP_KILL);
}

// A network and a file system without anything. Root's launcher is there already; whoever is not
// root, or has given up what root has, may have such namespaces as the root of one of users.
void leave_the_machine(bool will_change_user) {
    if (!will_change_user)
        (void)!unshare(namespaces | CLONE_NEWUSER);
    (void)(!chroot("/proc/self/fdinfo") && !chdir("/"));
}

bool become(uid_t user) {
    return setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0;
}

bool give_up_users(bool will_change_user) {
    return !will_change_user ||
           (setgroups(0, nullptr) == 0 && (become(reader_user) || become(nobody)));
}

// What is left: memory that is not executable, reading and writing what is open, waiting, time,
// ending. Everything else is refused and not fatal: libraries ask for this and that.
bool give_up_system_calls() {
#ifdef __SANITIZE_ADDRESS__ // which needs more
    return true;
#else
    constexpr int plain[] = {
        SCMP_SYS(brk),          SCMP_SYS(munmap),       SCMP_SYS(mremap),
        SCMP_SYS(madvise),      SCMP_SYS(read),         SCMP_SYS(readv),
        SCMP_SYS(pread64),      SCMP_SYS(preadv),       SCMP_SYS(lseek),
        SCMP_SYS(write),        SCMP_SYS(pwrite64),     SCMP_SYS(fstat),
        SCMP_SYS(close),        SCMP_SYS(recvfrom),     SCMP_SYS(recvmsg),
        SCMP_SYS(sendto),       SCMP_SYS(sendmsg),      SCMP_SYS(poll),
        SCMP_SYS(ppoll),        SCMP_SYS(futex),        SCMP_SYS(clock_gettime),
        SCMP_SYS(gettimeofday), SCMP_SYS(getrandom),    SCMP_SYS(getpid),
        SCMP_SYS(gettid),       SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_yield),  SCMP_SYS(restart_syscall),
        SCMP_SYS(exit),         SCMP_SYS(exit_group),
    };
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter)
        return false;
    bool made = true;
    for (const int call : plain)
        made = made && seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) == 0;
    for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)})
        made = made && seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                                        SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0;
    for (const int command : {F_GETFD, F_GETFL, F_DUPFD_CLOEXEC})
        made =
            made && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                                     SCMP_A1(SCMP_CMP_EQ, static_cast<scmp_datum_t>(command))) == 0;
    // As glibc spells fstat(). With another descriptor and a name it finds nothing.
    made = made && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
                                    SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)) == 0;
    // abort()
    made = made && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                                    SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid()))) == 0;
    made = made && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return made;
#endif
}

// By which other processes, the kernel's less trodden ways or other programs would be reached.
// Libraries may need whatever else there is.
bool give_up_reaching_out() {
#ifdef __SANITIZE_ADDRESS__
    return true;
#else
    constexpr int refused[] = {
        SCMP_SYS(ptrace),
        SCMP_SYS(process_vm_readv),
        SCMP_SYS(process_vm_writev),
        SCMP_SYS(pidfd_getfd),
        SCMP_SYS(pidfd_send_signal),
        SCMP_SYS(kill),
        SCMP_SYS(rt_sigqueueinfo),
        SCMP_SYS(rt_tgsigqueueinfo),
        SCMP_SYS(tkill),
        SCMP_SYS(execve),
        SCMP_SYS(execveat),
        SCMP_SYS(fork),
        SCMP_SYS(vfork),
        SCMP_SYS(unshare),
        SCMP_SYS(setns),
        SCMP_SYS(mount),
        SCMP_SYS(umount2),
        SCMP_SYS(pivot_root),
        SCMP_SYS(chroot),
        SCMP_SYS(bpf),
        SCMP_SYS(perf_event_open),
        SCMP_SYS(userfaultfd),
        SCMP_SYS(io_uring_setup),
        SCMP_SYS(keyctl),
        SCMP_SYS(add_key),
        SCMP_SYS(request_key),
        SCMP_SYS(fsopen),
        SCMP_SYS(open_tree),
        SCMP_SYS(move_mount),
        SCMP_SYS(name_to_handle_at),
        SCMP_SYS(modify_ldt),
        SCMP_SYS(kcmp),
        SCMP_SYS(process_madvise),
        SCMP_SYS(mq_open),
        SCMP_SYS(shmget),
        SCMP_SYS(msgget),
        SCMP_SYS(semget),
    };
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return false;
    bool made = true;
    for (const int call : refused)
        made = made && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0) == 0;
    // Its own, not others'.
    for (const int call : {SCMP_SYS(prlimit64), SCMP_SYS(sched_setaffinity)})
        made = made && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1,
                                        SCMP_A0(SCMP_CMP_NE, 0)) == 0;
    // The network, and what tells of its interfaces. Servers behind unix sockets do for its user
    // whatever they are asked to.
    constexpr int families[] = {AF_INET, AF_INET6, AF_NETLINK};
    constexpr int most = 64;
    for (int family = 0; family <= most; family++)
        if (std::ranges::find(families, family) == std::end(families))
            made = made &&
                   seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
                                    SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(family))) == 0;
    made = made && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
                                    SCMP_A0(SCMP_CMP_GT, most)) == 0;
    // Threads, but no processes; clone3(2), whose flags cannot be looked at, seems not to be there.
    made = made && seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) == 0;
    // abort()
    made = made && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1,
                                    SCMP_A0(SCMP_CMP_NE, static_cast<scmp_datum_t>(getpid()))) == 0;
    made = made && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return made;
#endif
}

} // namespace

void prepare_to_confine() {
    if (may_change_user())
        (void)!unshare(namespaces);
    (void)keep_capabilities(capability(CAP_SETUID) | capability(CAP_SETGID) |
                            capability(CAP_SYS_CHROOT) | capability(CAP_KILL));
    // Two of them are on request elsewhere (UserRights).
    (void)set_effective_capabilities(permitted_capabilities());
}

bool confine(const ConfinedLimits& limits, uint64_t written) {
    if (close_range(confined_socket + 1, ~0U, 0) != 0)
        return false;
    const bool will_change_user = may_change_user(); // to begin with, not as a namespace's root
    leave_the_machine(will_change_user);
    if (!give_up_users(will_change_user) || !keep_capabilities(0))
        return false;
    prctl(PR_SET_DUMPABLE, 0);
    set_limits(limits, written);
    limit(RLIMIT_NPROC, 0);
    give_up_file_names();
    // With the launcher, which ends with auger. (Changes of user undo this.)
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && give_up_system_calls();
}

bool confine_with_network(const ConfinedLimits& limits, uint64_t written,
                          const AllowedFiles& files) {
    if (close_range(confined_socket + 1, ~0U, 0) != 0 || !keep_capabilities(0))
        return false;
    prctl(PR_SET_DUMPABLE, 0);
    set_limits(limits, written);
    std::signal(SIGXFSZ, SIG_IGN); // it gets an error instead
    give_up_file_names(files);
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && give_up_reaching_out();
}

} // namespace auger
