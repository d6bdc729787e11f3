// SPDX-License-Identifier: GPL-3.0-or-later
// A call that waits on one stack, while its thread works on another one above, is still the call
// that the thread is in: for samples, which are taken in interrupts, and for waits.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

namespace auger::test {
namespace {

class TwoStacks : public KernelTest, public testing::WithParamInterface<bool> {};

TEST_P(TwoStacks, ACallBelowIsKept) {
    std::vector<std::string> arguments = {"--calls", "500", "--wait"};
    if (GetParam())
        arguments.emplace_back("--apart");
    Program program("two_stacks", arguments);
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId probe = session.time("suspended");
    must(session.backend().set_sampling({999, true}));
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(std::chrono::seconds(60));
    const nlohmann::json account = program.account();
    EXPECT_EQ(session.calls(probe).returns, 500u);

    const SampleStore& samples = session.model().samples();
    struct Found {
        double inside = 0, all = 0;
    } busy, asleep;
    for (size_t i = 0; i < samples.size(); i++) {
        const auto names = session.stack_names(samples.stacks()[i]);
        const auto weight = static_cast<double>(samples.weights()[i]);
        for (const auto& [name, found] : {std::pair{"busy", &busy}, std::pair{"asleep", &asleep}}) {
            if (std::ranges::find(names, name) == names.end())
                continue;
            found->all += weight;
            found->inside += samples.calls()[i] == no_call ? 0 : weight;
        }
    }
    // Half a second each.
    ASSERT_GT(busy.all, 0.8 * account["busy_cpu_ns"].get<double>());
    ASSERT_GT(asleep.all, 400e6);
    EXPECT_EQ(busy.inside, busy.all);
    EXPECT_EQ(asleep.inside, asleep.all);
}

INSTANTIATE_TEST_SUITE_P(Mappings, TwoStacks, testing::Bool(),
                         [](const auto& info) { return info.param ? "two" : "one"; });

} // namespace
} // namespace auger::test
