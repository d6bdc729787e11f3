// SPDX-License-Identifier: GPL-3.0-or-later
// A call that waits on one stack, while its thread works on another one above, is still the call
// that the thread is in: for samples, which are taken in interrupts, and for waits.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

namespace auger::test {
namespace {

// How they lie.
class TwoStacks : public KernelTest, public testing::WithParamInterface<const char*> {
  protected:
    static std::vector<std::string> arguments(std::vector<std::string> more) {
        if (GetParam() != std::string("one"))
            more.push_back(std::string("--") + GetParam());
        more.insert(more.end(), {"--calls", "500", "--wait"});
        return more;
    }
    static void expect_returns(const std::vector<std::string>& more) {
        Program program("two_stacks", arguments(more));
        program.wait_ready();
        Session session;
        session.observe(program.pid());
        const ProbeId below = session.time("suspended"), above = session.time("busy");
        program.go();
        session.pump_to_end();
        EXPECT_TRUE(program.account()["ok"].get<bool>()) << program.account();
        for (const ProbeId one : {below, above}) {
            EXPECT_EQ(session.calls(one).returns, 500u);
            EXPECT_EQ(session.calls(one).unwound, 0u);
        }
    }
};

TEST_P(TwoStacks, ACallBelowIsKept) {
    Program program("two_stacks", arguments({}));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId probe = session.time("suspended");
    must(session.backend().set_sampling({999, true}));
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(std::chrono::seconds(60));
    const nlohmann::json account = program.account();
    EXPECT_TRUE(account["ok"].get<bool>());
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

// A call that begins above does not tell that it is gone.
TEST_P(TwoStacks, ACallBelowEndsByItsReturn) {
    expect_returns({"--busy-us", "10"});
}

// ... nor while the kernel cannot say on which stack it is.
TEST_P(TwoStacks, ACallBelowEndsByItsReturnWhileMemoryIsMapped) {
    expect_returns({"--busy-us", "10", "--sleep-us", "100", "--remap"});
}

INSTANTIATE_TEST_SUITE_P(Mappings, TwoStacks, testing::Values("one", "apart", "merged"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace auger::test
