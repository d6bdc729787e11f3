// SPDX-License-Identifier: GPL-3.0-or-later
// doctor, beside what the kernel says itself of what it is and has.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/support/process_rights.h"

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <utility>

namespace auger::test {
namespace {

class LiveDoctor : public LiveTest {
  protected:
    static std::map<std::string, std::string> states_in(const json& doctor) {
        std::map<std::string, std::string> states;
        for (const json& capability : doctor["capabilities"])
            states[capability["name"]] = capability["state"];
        return states;
    }
    static bool has(uint64_t rights, unsigned capability) { return rights >> capability & 1; }
    // "6.12" of "6.12.48-cloud".
    static std::pair<int, int> kernel_version() {
        utsname name{};
        std::pair<int, int> version;
        if (uname(&name) != 0 ||
            sscanf(name.release, "%d.%d", &version.first, &version.second) != 2)
            throw std::runtime_error("uname");
        return version;
    }
    // With their addresses.
    static std::map<std::string, std::string> kernel_symbols() {
        std::map<std::string, std::string> symbols;
        std::ifstream file("/proc/kallsyms");
        std::string address, kind, name, rest;
        while (file >> address >> kind >> name && std::getline(file, rest))
            symbols.emplace(name, address);
        return symbols;
    }
    static bool counts_cycles() {
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = PERF_TYPE_HARDWARE;
        attributes.config = PERF_COUNT_HW_CPU_CYCLES;
        const auto counter =
            static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
        return counter >= 0 && close(counter) == 0;
    }
};

TEST_F(LiveDoctor, SaysWhatTheKernelSays) {
    LiveAuger auger({});
    const auto states = states_in(auger.ask("doctor"));
    const auto expect = [&](const char* name, bool there) {
        ASSERT_TRUE(states.contains(name)) << name;
        EXPECT_EQ(states.at(name) == "yes", there) << name;
    };
    expect("privilege", true); // there would be no live tests
    expect("kernel types (BTF)", access("/sys/kernel/btf/vmlinux", R_OK) == 0);
    const uint64_t rights = rights_of(getpid()).effective;
    expect("other users' processes", has(rights, CAP_SYS_PTRACE));
    expect("other users' files", has(rights, CAP_DAC_READ_SEARCH));
    expect("replaced files", has(rights, CAP_CHECKPOINT_RESTORE) || has(rights, CAP_SYS_ADMIN));
    expect("hardware cycles", counts_cycles());
    const auto symbols = kernel_symbols();
    const auto start = symbols.find("_text");
    ASSERT_NE(start, symbols.end());
    expect("names in the kernel", start->second.find_first_not_of('0') != std::string::npos);
    bool sockets = true;
    for (const char* point :
         {"sock_recv_length", "sock_send_length", "sk_data_ready", "inet_sock_set_state"})
        sockets &= symbols.contains(std::string("__traceiter_") + point);
    expect("socket tracepoints", sockets);
    // In the first versions that had them, links of many probes left out threads of the process.
    const auto version = kernel_version();
    if (version < std::pair(6, 6) || version >= std::pair(6, 13))
        expect("uprobe_multi links", version >= std::pair(6, 6));
    expect("session links", version >= std::pair(6, 13));
    expect("stacks under return probes", version >= std::pair(6, 11));
}

// As nobody, and where the kernel's types are out of sight.
TEST_F(LiveDoctor, SaysWhatIsMissing) {
    const auto doctor = [](bool (*prepare)()) {
        const Outcome outcome = auger({"--json", "--batch", "-e", "doctor"}, {.prepare = prepare});
        return states_in(answer_to("doctor", outcome.out));
    };
    auto states = doctor(become_nobody);
    EXPECT_EQ(states["privilege"], "no");
    EXPECT_EQ(states["kernel types (BTF)"], "yes");
    EXPECT_EQ(states["other users' processes"], "partly");
    EXPECT_EQ(states["other users' files"], "partly");
    EXPECT_EQ(states["replaced files"], "partly");
    states = doctor([] { return hide("/sys/kernel/btf"); });
    EXPECT_EQ(states["kernel types (BTF)"], "no");
    EXPECT_EQ(states["other users' processes"], "yes");
}

} // namespace
} // namespace auger::test
