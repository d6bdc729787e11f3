// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/rights.h"

#include "tests/cli/invocation.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <regex>
#include <stdexcept>

namespace auger::test {
namespace {

const std::map<std::string, int> numbers = {
    {"cap_bpf", CAP_BPF},
    {"cap_perfmon", CAP_PERFMON},
    {"cap_sys_ptrace", CAP_SYS_PTRACE},
    {"cap_syslog", CAP_SYSLOG},
    {"cap_checkpoint_restore", CAP_CHECKPOINT_RESTORE},
    {"cap_dac_read_search", CAP_DAC_READ_SEARCH},
    {"cap_ipc_lock", CAP_IPC_LOCK},
};

} // namespace

uint64_t bits_of(const std::set<std::string>& names) {
    uint64_t bits = 0;
    for (const std::string& name : names)
        bits |= uint64_t{1} << numbers.at(name);
    return bits;
}

bool become_nobody_with(const std::set<std::string>& names) {
    const uint64_t wanted = bits_of(names);
    for (int i = 0; prctl(PR_CAPBSET_READ, i) >= 0; i++)
        if (!(wanted >> i & 1) && prctl(PR_CAPBSET_DROP, i) != 0)
            return false;
    if (prctl(PR_SET_KEEPCAPS, 1) != 0 || !become_nobody())
        return false;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3]{};
    for (int i = 0; i < 2; i++) {
        const auto half = static_cast<uint32_t>(wanted >> (32 * i));
        sets[i] = {half, half, half};
    }
    if (syscall(SYS_capset, &header, sets) != 0)
        return false;
    for (const std::string& name : names)
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, numbers.at(name), 0, 0) != 0)
            return false;
    return true;
}

std::set<std::string> documented_capabilities() {
    const Outcome outcome = auger({"--batch", "-e", "doctor"}, {.prepare = become_nobody});
    static const std::regex command("setcap\\s+([a-z_,\\s]+)=ep");
    std::smatch found;
    if (!std::regex_search(outcome.out, found, command))
        throw std::runtime_error("doctor names no capabilities: " + outcome.out);
    std::set<std::string> names;
    const std::string list = found[1];
    static const std::regex name("cap_[a-z_]+");
    for (std::sregex_iterator it(list.begin(), list.end(), name), end; it != end; ++it)
        names.insert(it->str());
    return names;
}

} // namespace auger::test
