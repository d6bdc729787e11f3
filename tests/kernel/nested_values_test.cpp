// SPDX-License-Identifier: GPL-3.0-or-later
// Calls that are judged when they end, around many others: a call keeps what was read of it for as
// long as it lasts, and what was sampled in one that does not count is in no call.
#include "bpf/wire.h"
#include "tests/kernel/program.h"
#include "tests/kernel/service_truth.h"
#include "tests/kernel/session.h"
#include "tests/support/temporary_folder.h"
#include "views/model/classifier.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <string>

namespace auger::test {
namespace {

class NestedValues : public KernelTest {
  protected:
    // Every third call of `outer` returns -1.
    ProbeId time_negative() {
        CallConditions negative;
        negative.only_if = "ret < 0 and arg0 >= 0";
        return session_.time("outer", {}, negative);
    }
    void run() {
        program_.go();
        session_.pump_to_end();
        account_ = program_.account();
    }
    uint64_t calls(const char* sign) const { return account_.at(sign).at("calls"); }

    const TemporaryFolder folder_;
    const std::string truth_path_ = folder_.path("truth");
    Program program_{"outer_values", {"--calls", "600", "--wait", "--truth", truth_path_}};
    Session session_;
    nlohmann::json account_;
};

TEST_F(NestedValues, OfTheOuterCallOutliveAnyNumberOfInnerOnes) {
    program_.wait_ready();
    session_.observe(program_.pid());
    const ProbeId outer = time_negative();
    CallConditions any;
    any.only_if = "arg0 < 1000";
    const ProbeId inner = session_.time("inner", {}, any);
    run();
    EXPECT_EQ(session_.calls(inner).returns, 600u * 40);
    const Calls counted = session_.calls(outer);
    EXPECT_TRUE(counted.add_up());
    EXPECT_EQ(counted.returns, calls("negative"));
    EXPECT_EQ(counted.filtered, calls("positive"));
    EXPECT_EQ(session_.lost("values: no memory for thread"), 0u);
}

// There are as many places for values as a thread may have open calls: each of these has one, what
// is beyond is dropped as a call, and no values are missing. (What would be counted as such:
// bpf/README.md, "What no test shows".)
TEST_F(KernelTest, EachCallThatMayBeOpenHasPlaceForItsValues) {
    constexpr uint64_t rounds = 5, depth = 40, kept_from = 20;
    static_assert(depth > WIRE_MAX_OPEN_CALLS && kept_from > depth - WIRE_MAX_OPEN_CALLS);
    Program program("recursion",
                    {"--threads", "1", "--depth", std::to_string(depth), "--calls",
                     std::to_string(rounds), "--sleep-us", "0", "--pause-us", "0", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    // Judged when they end, by what was read when they began: their levels are 40 to 9, as there is
    // no place for those further in.
    CallConditions conditions;
    conditions.only_if = fmt::format("ret >= 0 and arg0 >= {}", kept_from);
    const ProbeId descend = session.time("descend", {}, conditions);
    program.go();
    session.pump_to_end();
    const Calls counted = session.calls(descend);
    EXPECT_EQ(counted.entries, rounds * depth);
    EXPECT_EQ(counted.dropped, rounds * (depth - WIRE_MAX_OPEN_CALLS));
    EXPECT_EQ(counted.returns, rounds * (depth - kept_from + 1));
    EXPECT_EQ(counted.filtered, rounds * (kept_from - 1 - (depth - WIRE_MAX_OPEN_CALLS)));
    EXPECT_EQ(session.lost("calls: nested deeper than 32"), counted.dropped);
    EXPECT_EQ(session.lost("values: no memory for thread"), 0u);
}

TEST_F(NestedValues, CallsThatDoNotCountHoldNoSamples) {
    program_.wait_ready();
    session_.observe(program_.pid());
    const ProbeId outer = time_negative();
    session_.sample(4'999);
    must(
        session_.backend().set_split({true, outer, {Threshold::Kind::fixed, 1'000'000, 0}, false}));
    run();
    ASSERT_GT(calls("positive"), 100u);
    const Requests outers = read_requests(truth_path_);
    const Model& model = session_.model();
    const SampleStore& samples = model.samples();
    const Classifier classify(model);
    // All calls take twice the threshold: each negative one is slow, and nothing else is in a call.
    std::map<std::string, size_t> checked;
    for (size_t i = 0; i < samples.size(); i++) {
        const Moment moment =
            moment_of(outers, static_cast<uint32_t>(program_.pid()), samples.times()[i]);
        if (moment.place == Moment::Place::edge)
            continue;
        const std::string kind =
            moment.place == Moment::Place::inside ? moment.request->kind : "between";
        checked[kind]++;
        ASSERT_EQ(to_string(classify(samples.calls()[i], samples.times()[i])),
                  to_string(kind == "negative" ? CallClass::slow : CallClass::outside))
            << kind << ", sample " << i;
    }
    // Ten ticks fall into 2 ms of CPU time, if none is delayed; half of them are asked for.
    EXPECT_GT(checked["negative"], 5 * calls("negative"));
    EXPECT_GT(checked["positive"], 5 * calls("positive"));
}

} // namespace
} // namespace auger::test
