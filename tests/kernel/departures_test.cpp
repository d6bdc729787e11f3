// SPDX-License-Identifier: GPL-3.0-or-later
// What is set while processes of the target end all the time: none of it fails because one has
// ended meanwhile, and what is counted of the others is all of it.
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"

#include <algorithm>

namespace auger::test {
namespace {

// Of a library that others map, too, probes are in each process by itself.
class Departures : public WaysTest<LiveOptions::Attach> {
  protected:
    // Fewer than for which one probe for everybody takes their place (place_group.cpp), and they
    // leave for longer than it takes to look at them all.
    static constexpr int children = 40;
    static constexpr const char* spread_us = "400000";

    void SetUp() override {
        WaysTest::SetUp();
        if (IsSkipped())
            return;
        program_.emplace("departures",
                         std::vector{std::to_string(children), std::string(spread_us)});
        program_->wait_ready();
        session_.emplace(LiveOptions{GetParam()});
        target_.kind = TargetSpec::Kind::pids;
        target_.pids = {program_->pid()};
        target_.tree = true;
    }
    // The children are there, and the target. Their births belong to the one before: where many are
    // born one probe for everybody takes the others' place, too.
    void begin_round() {
        program_->go();
        EXPECT_EQ(program_->read_line(), "here");
        must(session_->backend().refresh());
        session_->observe(target_);
    }
    // When each of them called exit.
    std::vector<uint64_t> end_round() {
        const nlohmann::json account = program_->account();
        EXPECT_TRUE(account["ok"].get<bool>());
        return account["left_ns"];
    }
    uint64_t now_ns() { return session_->backend().now_ns(); }
    static uint64_t later(const std::vector<uint64_t>& left, uint64_t than) {
        return static_cast<uint64_t>(
            std::ranges::count_if(left, [&](uint64_t at) { return at > than; }));
    }

    std::optional<Program> program_;
    std::optional<Session> session_;
    TargetSpec target_;
};

TEST_P(Departures, AreNoReasonNotToTimeTheOthers) {
    uint64_t meanwhile = 0;
    for (int round = 0; round < 5; round++) {
        begin_round();
        program_->go();
        const uint64_t begun = now_ns();
        const Result<ProbeId> exits = session_->try_time("libc:exit");
        const uint64_t done = now_ns();
        ASSERT_TRUE(exits) << exits.error().message();
        const auto left = end_round();
        ASSERT_TRUE(session_->pump_until(
            [&] { return session_->calls(*exits).entries >= later(left, done); }));
        const Calls calls = session_->calls(*exits);
        EXPECT_LE(calls.entries, later(left, begun));
        EXPECT_EQ(calls.returns, 0u);
        EXPECT_TRUE(calls.add_up());
        meanwhile += later(left, begun) - later(left, done);
        must(session_->backend().remove_probe(*exits));
    }
    EXPECT_GT(meanwhile, 0u) << "nobody left while the probes came";
}

TEST_P(Departures, AreNoReasonNotToEndProbes) {
    for (int round = 0; round < 3; round++) {
        begin_round();
        const ProbeId exits = session_->time("libc:exit");
        program_->go();
        ASSERT_TRUE(session_->pump_until([&] { return session_->calls(exits).entries > 0; }));
        must(session_->backend().set_attached(exits, false));
        must(session_->backend().set_attached(exits, true));
        must(session_->backend().remove_probe(exits));
        end_round();
    }
}

TEST_P(Departures, AreNoReasonNotToSample) {
    for (int round = 0; round < 5; round++) {
        begin_round();
        program_->go();
        for (int again = 0; again < 3; again++) {
            session_->sample(999);
            must(session_->backend().set_sampling({997, true}));
            session_->observe(target_);
            must(session_->backend().set_sampling({}));
        }
        end_round();
    }
    session_->expect_samples_add_up();
}

INSTANTIATE_TEST_SUITE_P(Ways, Departures,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return info.param == LiveOptions::Attach::multi ? "multi" : "perf";
                         });

} // namespace
} // namespace auger::test
