// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/confinement.h"

#include "loader/process/capabilities.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace auger {
namespace {

constexpr uid_t nobody = 65534;
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
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_NOFILE, most_files);
    limit(RLIMIT_CPU, limits.cpu_seconds);
#ifndef __SANITIZE_ADDRESS__ // which reserves terabytes of addresses
    // Never more than half of what the machine has.
    const auto pages = static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    limit(RLIMIT_AS, std::min(limits.memory, pages * page / 2));
#endif
}

constexpr int namespaces = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

// What its launcher has kept. Only who may kill others ends what is nobody's.
bool may_be_nobody() {
    return has_capability(CAP_SETUID) && has_capability(CAP_SETGID) && has_capability(CAP_KILL);
}

// A network and a file system without anything. Root's launcher is there already; whoever is not
// root, or has given up what root has, may have such namespaces as the root of one of users.
void leave_the_machine(bool will_be_nobody) {
    if (!will_be_nobody)
        (void)!unshare(namespaces | CLONE_NEWUSER);
    (void)(!chroot("/proc/self/fdinfo") && !chdir("/"));
}

bool give_up_users(bool will_be_nobody) {
    if (will_be_nobody && (setgroups(0, nullptr) != 0 || setresgid(nobody, nobody, nobody) != 0 ||
                           setresuid(nobody, nobody, nobody) != 0))
        return false;
    return keep_capabilities(0);
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

} // namespace

void prepare_to_confine() {
    if (may_be_nobody())
        (void)!unshare(namespaces);
    (void)keep_capabilities(capability(CAP_SETUID) | capability(CAP_SETGID) |
                            capability(CAP_SYS_CHROOT) | capability(CAP_KILL));
    // Two of them are on request elsewhere (UserRights).
    (void)set_effective_capabilities(permitted_capabilities());
}

void give_up_file_names() {
    landlock_ruleset_attr none{};
    none.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1; // all of the first version
    const auto rules =
        static_cast<int>(syscall(SYS_landlock_create_ruleset, &none, sizeof none, 0));
    if (rules >= 0) {
        syscall(SYS_landlock_restrict_self, rules, 0);
        close(rules);
    }
}

bool confine(const ConfinedLimits& limits, uint64_t written) {
    if (close_range(confined_socket + 1, ~0U, 0) != 0)
        return false;
    const bool will_be_nobody = may_be_nobody(); // to begin with, not as the root of a namespace
    leave_the_machine(will_be_nobody);
    if (!give_up_users(will_be_nobody))
        return false;
    prctl(PR_SET_DUMPABLE, 0);
    set_limits(limits, written);
    give_up_file_names();
    // With the launcher, which ends with auger. (Changes of user undo this.)
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && give_up_system_calls();
}

} // namespace auger
