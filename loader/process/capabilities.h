// SPDX-License-Identifier: GPL-3.0-or-later
// What auger keeps of root's rights (capabilities(7)), and what for: one table, from which it is
// given up, explained by `doctor`, and named where it is missing.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace auger {

// A bit each, by number: as in /proc/PID/status.
using CapabilitySet = uint64_t;

constexpr CapabilitySet capability(unsigned number) {
    return CapabilitySet{1} << number;
}

struct CapabilityUse {
    enum class Whose : uint8_t {
        everybodys,  // what observing takes, for whoever has it
        roots,       // only root needs it: for what others do as themselves
        plain_roots, // not under sudo
        sudos,       // only under sudo
        perf_events, // only where the kernel asks for it to open them
        low_limits,  // only where the limit of nice could not be raised instead
    };
    unsigned number; // CAP_BPF
    const char* name;
    Whose whose;
    bool asked_for;  // by `doctor`
    bool replaying;  // kept there, too
    bool on_request; // in force only while UserRights lives
    // What takes it, in a user's words.
    const char* use;
};

std::span<const CapabilityUse> capability_uses();
// "CAP_BPF" of one in the table.
const char* capability_name(unsigned number);
// "CAP_SYSLOG is missing, for names of the kernel's functions".
std::string lack_of_capability(unsigned number);
// "cap_bpf,cap_perfmon,...": what `doctor` asks for, as setcap(8) takes it.
std::string asked_capabilities();

// Of the calling thread.
CapabilitySet permitted_capabilities();
CapabilitySet effective_capabilities();
bool has_capability(unsigned number);

// What auger does, as far as the table asks.
enum class Work : uint8_t { replaying, observing, observing_by_perf_events };
// What this process is to keep, of what it is permitted: by the table.
CapabilitySet capabilities_to_keep(Work work);
// What UserRights puts in force, of what is permitted.
CapabilitySet capabilities_on_request();

// Gives up all but these, for good: of the calling thread, and of all that it makes from then on.
// Programs that it starts gain none either (no_new_privs). What is on request is not in force then.
// False when the kernel refuses, which it does only within another's confinement.
bool keep_capabilities(CapabilitySet kept);
// Of what is permitted.
bool set_effective_capabilities(CapabilitySet effective);

// A thread of auger begins: what `ps -L` calls it (15 bytes), and what it keeps. It has no more
// than its maker anyway.
void begin_thread(const char* name, CapabilitySet kept);

} // namespace auger
