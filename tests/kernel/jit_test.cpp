// SPDX-License-Identifier: GPL-3.0-or-later
// Code that a program generates while it is observed: its names come from the map that the program
// writes, its shares are those that the program measured, and stacks go through it.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>

namespace auger::test {
namespace {

class Jit : public KernelTest {};

TEST_F(Jit, FunctionsHaveTheirNamesSharesAndCallers) {
    Program program("jit", {"--wait", "--pause-us", "0"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.sample(999);
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.model().samples().size() >= 1'500; }));
    session.sample(0);
    session.backend().settle_symbols(std::chrono::seconds(60)); // its map is there until it ends
    program.signal(SIGTERM);
    const nlohmann::json account = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_TRUE(account["ok"].get<bool>()) << account;

    std::map<std::string, double> samples;
    double without_caller = 0;
    const SampleStore& store = session.model().samples();
    for (size_t i = 0; i < store.size(); i++) {
        const auto names = session.stack_names(store.stacks()[i]);
        // A tick that interrupted the kernel has its functions in front.
        const auto leaf = std::ranges::find_if(
            names, [](const std::string& name) { return name.starts_with("jit_"); });
        if (leaf == names.end())
            continue;
        samples[*leaf]++;
        without_caller += std::find(leaf, names.end(), "run_jit") == names.end() ||
                          std::find(leaf, names.end(), "main") == names.end();
    }
    ASSERT_EQ(samples.size(), 2u) << testing::PrintToString(samples);
    const auto cpu_ns = [&](const char* name) {
        return account["jit"][name]["cpu_ns"].get<double>();
    };
    const double all = samples["jit_alpha"] + samples["jit_beta"];
    EXPECT_GT(all, 0.9 * static_cast<double>(store.size())); // it does nothing else
    const double truth = cpu_ns("jit_alpha") / (cpu_ns("jit_alpha") + cpu_ns("jit_beta"));
    EXPECT_NEAR(samples["jit_alpha"] / all, truth, 5 * std::sqrt(truth * (1 - truth) / all));
    // Both functions set up a frame. In their first instruction, before it stands, and in the last
    // one, the caller is skipped: 4 of some 600,000 instructions of a call. That jit_beta's caller
    // has something like a return address in rbp misleads nobody.
    EXPECT_LE(without_caller, 0.01 * all)
        << testing::PrintToString(session.stack_names(store.stacks()[store.size() - 1]))
        << testing::PrintToString(session.stack_names(store.stacks()[store.size() / 2]));
}

} // namespace
} // namespace auger::test
