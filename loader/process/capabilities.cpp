// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/capabilities.h"

#include "loader/process/proc_info.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace auger {
namespace {

using Whose = CapabilityUse::Whose;

// SECURITY.md has the same list ("What auger keeps").
constexpr std::array<CapabilityUse, 13> uses{{
    {CAP_BPF, "CAP_BPF", Whose::everybodys, true, false, false,
     "everything that observes: `time`, `sample`, `sample wall`, `slow`, `split`, `open`"},
    {CAP_PERFMON, "CAP_PERFMON", Whose::everybodys, true, false, false,
     "everything that observes: `time`, `sample`, `sample wall`, `slow`, `split`, `open`"},
    {CAP_SYS_PTRACE, "CAP_SYS_PTRACE", Whose::everybodys, true, false, false,
     "other users' processes: names in them, `time`, and `open`'s stacks"},
    {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", Whose::everybodys, true, true, false,
     "programs, debug files and perf maps that not everybody may read"},
    {CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", Whose::everybodys, true, false, false,
     "files that were replaced while they are mapped: names in them, and `time`"},
    {CAP_SYSLOG, "CAP_SYSLOG", Whose::everybodys, true, false, false,
     "names of the kernel's functions"},
    {CAP_LEASE, "CAP_LEASE", Whose::everybodys, false, false, false,
     "`time` in other users' files: probes go before anybody writes there"},
    {CAP_SYS_ADMIN, "CAP_SYS_ADMIN", Whose::perf_events, false, false, false,
     "perf events, where the kernel asks for it: probes that are some (Linux before 6.6, "
     "`--attach perf`), and all of them where kernel.perf_event_paranoid is above 2"},
    {CAP_SYS_NICE, "CAP_SYS_NICE", Whose::low_limits, false, false, false,
     "a higher priority while events are lost because others have all CPUs"},
    {CAP_KILL, "CAP_KILL", Whose::roots, false, true, false,
     "killing readers, which run as another user, and commands that changed their user"},
    {CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE", Whose::plain_roots, false, true, true,
     "`save`, `record` and `serve unix:` in other users' folders"},
    {CAP_SETUID, "CAP_SETUID", Whose::sudos, false, true, true,
     "reading and making files with the rights of the user who called sudo"},
    {CAP_SETGID, "CAP_SETGID", Whose::sudos, false, true, true,
     "reading and making files with the rights of the user who called sudo"},
}};

struct Sets {
    CapabilitySet effective = 0, permitted = 0, inheritable = 0;
};

Sets sets_of_thread() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> halves{};
    Sets sets;
    if (syscall(SYS_capget, &header, halves.data()) != 0)
        return sets;
    for (size_t i = halves.size(); i-- > 0;) {
        sets.effective = sets.effective << 32 | halves[i].effective;
        sets.permitted = sets.permitted << 32 | halves[i].permitted;
        sets.inheritable = sets.inheritable << 32 | halves[i].inheritable;
    }
    return sets;
}

// The C library has no function for it; of this thread only.
bool set_for_thread(const Sets& sets) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> halves{};
    for (size_t i = 0; i < halves.size(); i++)
        halves[i] = {static_cast<uint32_t>(sets.effective >> 32 * i),
                     static_cast<uint32_t>(sets.permitted >> 32 * i),
                     static_cast<uint32_t>(sets.inheritable >> 32 * i)};
    return syscall(SYS_capset, &header, halves.data()) == 0;
}

// What programs could gain. Whoever may not change it has none to gain under no_new_privs.
void limit_bounds(CapabilitySet kept) {
    for (unsigned number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++)
        if (!(kept & capability(number)))
            prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
}

bool applies(Whose whose, Work work, bool root, bool sudo) {
    switch (whose) {
    case Whose::everybodys:
        return true;
    case Whose::roots:
        return root;
    case Whose::plain_roots:
        return root && !sudo;
    case Whose::sudos:
        return sudo;
    case Whose::perf_events:
        return work == Work::observing_by_perf_events;
    case Whose::low_limits: {
        rlimit nice{};
        return getrlimit(RLIMIT_NICE, &nice) != 0 || nice.rlim_cur <= 20; // none below 0
    }
    }
    return false;
}

} // namespace

std::span<const CapabilityUse> capability_uses() {
    return uses;
}

const char* capability_name(unsigned number) {
    for (const CapabilityUse& use : uses)
        if (use.number == number)
            return use.name;
    return "";
}

std::string lack_of_capability(unsigned number) {
    for (const CapabilityUse& use : uses)
        if (use.number == number)
            return std::string(use.name) + " is missing, for " + use.use;
    return "";
}

std::string asked_capabilities() {
    std::string list;
    for (const CapabilityUse& use : uses) {
        if (!use.asked_for)
            continue;
        list += list.empty() ? "" : ",";
        for (const char* at = use.name; *at; at++)
            list += *at >= 'A' && *at <= 'Z' ? static_cast<char>(*at - 'A' + 'a') : *at;
    }
    return list;
}

CapabilitySet permitted_capabilities() {
    return sets_of_thread().permitted;
}

CapabilitySet effective_capabilities() {
    return sets_of_thread().effective;
}

bool has_capability(unsigned number) {
    return effective_capabilities() & capability(number);
}

CapabilitySet capabilities_to_keep(Work work) {
    const bool replaying = work == Work::replaying;
    const bool root = geteuid() == 0;
    const bool sudo = invoking_user().has_value();
    CapabilitySet kept = 0;
    for (const CapabilityUse& use : uses)
        if (applies(use.whose, work, root, sudo) && (!replaying || use.replaying))
            kept |= capability(use.number);
    const CapabilitySet permitted = permitted_capabilities();
    // Where somebody gives nothing but this one (containers), it stands for three that are newer.
    constexpr CapabilitySet newer =
        capability(CAP_BPF) | capability(CAP_PERFMON) | capability(CAP_CHECKPOINT_RESTORE);
    if (!replaying && (permitted & newer) != newer)
        kept |= capability(CAP_SYS_ADMIN);
    return kept & permitted;
}

CapabilitySet capabilities_on_request() {
    CapabilitySet set = 0;
    for (const CapabilityUse& use : uses)
        if (use.on_request)
            set |= capability(use.number);
    return set & permitted_capabilities();
}

bool keep_capabilities(CapabilitySet kept) {
    Sets sets = sets_of_thread();
    if (sets.effective & capability(CAP_SETPCAP))
        limit_bounds(kept);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    sets.permitted &= kept;
    sets.effective &= sets.permitted;
    for (const CapabilityUse& use : uses)
        if (use.on_request)
            sets.effective &= ~capability(use.number);
    sets.inheritable = 0;
    return set_for_thread(sets) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool set_effective_capabilities(CapabilitySet effective) {
    Sets sets = sets_of_thread();
    sets.effective = effective & sets.permitted;
    return set_for_thread(sets);
}

void begin_thread(const char* name, CapabilitySet kept) {
    prctl(PR_SET_NAME, name);
    // It cannot fail where the process itself has given something up already; and where it has not,
    // the thread has what it had.
    (void)keep_capabilities(kept);
}

} // namespace auger
