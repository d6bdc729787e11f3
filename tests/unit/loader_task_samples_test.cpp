// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/stream/quiet_sink.h"
#include "loader/stream/task_samples.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace auger {
namespace {

using testing::ElementsAre;

constexpr uint32_t pid = 7;
constexpr uint64_t task = 0x7f00'0000'1230, other_task = 0x7f00'0000'4560;
const SpecId exchanges{1}, functions{2}, others{3};

CallKey call(uint64_t start_ns, SpecId spec = exchanges) {
    return {start_ns, CallKey::no_thread_bit | 5, spec};
}

// What comes of it, in its order: samples with when their calls began, and ends.
class Told final : public QuietSink {
  public:
    std::vector<std::string> all;
    void on_sample(const SampleEvent& sample) override {
        all.push_back(std::to_string(sample.time_ns) + " in");
        for (const CallKey& in : sample.calls)
            all.back() += " " + std::to_string(in.start_ns);
    }
    void on_call_end(const CallEndEvent& end) override {
        all.push_back("end of " + std::to_string(end.call.start_ns));
    }
};

class TaskSamplesTest : public testing::Test {
  protected:
    void keep(uint64_t time_ns, const std::vector<CallKey>& calls, uint64_t of = task) {
        SampleEvent sample;
        sample.time_ns = time_ns;
        sample.thread = ThreadId{3};
        sample.calls = calls;
        samples_.keep(pid, of, sample);
    }
    void send(const std::vector<TaskSamples::Exchange>& of, uint64_t by = task) {
        samples_.on_send(pid, by, sent_ns_, of);
    }
    void end(const CallKey& call, ThreadId thread = ThreadId{3}) {
        CallEndEvent event;
        event.call = call;
        event.thread = thread;
        samples_.on_call_end(event);
    }
    bool wait(uint64_t time_ns, uint64_t of = task, const std::vector<CallKey>& calls = {},
              uint32_t in = pid, size_t depth = 1) {
        TaskSamples::Wait one;
        one.sample.time_ns = time_ns;
        one.stack.locations.assign(depth, LocationId{static_cast<uint32_t>(time_ns)});
        one.sample.calls = calls;
        return samples_.keep_wait(in, of, std::move(one));
    }
    uint64_t sent_ns_ = UINT64_MAX;
    Told told_;
    // Of waits at times that nobody wants.
    std::set<uint64_t> unwanted_;
    std::vector<uint32_t> completed_; // their only locations
    TaskSamples samples_{told_, [this](uint32_t of, TaskSamples::Wait& wait) {
                             EXPECT_EQ(of, pid);
                             completed_.push_back(wait.stack.locations.at(0).value);
                             wait.sample.stack = StackId{9};
                             return !unwanted_.contains(wait.sample.time_ns);
                         }};
};

TEST_F(TaskSamplesTest, AreInTheExchangeThatTheTaskAnswers) {
    keep(100, {call(10), call(50, functions)});
    keep(101, {call(11)}, other_task);
    keep(102, {});
    EXPECT_THAT(told_.all, ElementsAre());
    send({{call(20), 90}});
    EXPECT_THAT(told_.all, ElementsAre("100 in 20 50", "102 in 20"));
    send({{call(21), 90}}, other_task);
    EXPECT_EQ(told_.all.back(), "101 in 21");
    // Once.
    send({{call(22), 90}});
    EXPECT_EQ(told_.all.size(), 3u);
}

TEST_F(TaskSamplesTest, AreInNoneThatWasReceivedLater) {
    keep(100, {call(10)});
    keep(120, {call(10)});
    send({{call(20), 110}});
    EXPECT_THAT(told_.all, ElementsAre("100 in", "120 in 20"));
}

TEST_F(TaskSamplesTest, AreInOneOfEachSpec) {
    keep(100, {call(10), call(11, others)});
    send({{call(20), 90}});
    keep(101, {call(10), call(11, others)});
    send({{call(20), 90}, {call(21, others), 90}});
    EXPECT_THAT(told_.all, ElementsAre("100 in 20 11", "101 in 20 21"));
}

TEST_F(TaskSamplesTest, GoOnAsTheyCameWhenTheTaskSendsNothing) {
    keep(100, {call(10)});
    keep(200, {call(11)}, other_task);
    samples_.let_go(99 + TaskSamples::patience_ns);
    EXPECT_THAT(told_.all, ElementsAre());
    EXPECT_TRUE(samples_.keeps_any_before(101));
    EXPECT_FALSE(samples_.keeps_any_before(100));
    samples_.let_go(100 + TaskSamples::patience_ns);
    EXPECT_THAT(told_.all, ElementsAre("100 in 10"));
    samples_.let_all_go();
    EXPECT_THAT(told_.all, ElementsAre("100 in 10", "200 in 11"));
}

// Or the model would take it for open for ever.
TEST_F(TaskSamplesTest, HoldUpTheEndsOfTheCallsThatTheyMayBeIn) {
    keep(100, {call(10), call(11, functions)});
    keep(101, {call(10)}, other_task);
    end(call(12));
    EXPECT_THAT(told_.all, ElementsAre("end of 12"));
    end(call(10));
    EXPECT_EQ(told_.all.size(), 1u);
    send({{call(20), 90}});
    EXPECT_THAT(told_.all, ElementsAre("end of 12", "100 in 20 11"));
    end(call(11, functions));
    EXPECT_EQ(told_.all.back(), "end of 11");
    send({{call(21), 90}}, other_task);
    EXPECT_THAT(std::vector(told_.all.end() - 2, told_.all.end()),
                ElementsAre("101 in 21", "end of 10"));
}

TEST_F(TaskSamplesTest, HoldUpNoOtherThreadsCall) {
    const CallKey own{10, 1, functions}; // of a thread
    keep(100, {own});
    end(own, ThreadId{4});
    EXPECT_THAT(told_.all, ElementsAre("end of 10"));
    end(own);
    samples_.let_all_go();
    EXPECT_THAT(told_.all, ElementsAre("end of 10", "100 in 10", "end of 10"));
}

TEST_F(TaskSamplesTest, OfWaitsAreToldOnlyInExchanges) {
    wait(100);
    wait(101, other_task);
    keep(102, {});
    wait(120);
    send({{call(20), 110}});
    EXPECT_THAT(told_.all, ElementsAre("120 in 20", "102 in"));
    EXPECT_THAT(completed_, ElementsAre(120u));
    EXPECT_EQ(samples_.waits(), 1u);
    send({{call(21), 0}});
    EXPECT_EQ(told_.all.size(), 2u); // once
    // They hold nothing up.
    EXPECT_FALSE(samples_.keeps_any_before(UINT64_MAX));
}

TEST_F(TaskSamplesTest, OfWaitsBehindASendAreForTheNext) {
    for (const uint64_t time : {100, 200, 300})
        wait(time);
    sent_ns_ = 200;
    send({{call(20), 0}});
    EXPECT_THAT(told_.all, ElementsAre("100 in 20", "200 in 20"));
    sent_ns_ = 400;
    send({{call(21), 250}});
    EXPECT_EQ(told_.all.back(), "300 in 21");
}

TEST_F(TaskSamplesTest, OfWaitsAreKeptForAMinute) {
    constexpr uint64_t second = 1'000'000'000;
    wait(100);
    wait(101, other_task);
    samples_.let_go(100 + TaskSamples::wait_patience_ns);
    send({{call(20), 0}});
    EXPECT_THAT(told_.all, ElementsAre("100 in 20"));
    samples_.let_go(102 + TaskSamples::wait_patience_ns + second);
    send({{call(21), 0}}, other_task);
    EXPECT_EQ(told_.all.size(), 1u);
}

// As those of tasks that run, whose calls' ends wait for them.
TEST_F(TaskSamplesTest, OfWaitsInCallsGoOnInThese) {
    wait(100, task, {call(10, others)});
    wait(101, other_task, {call(11, others)});
    end(call(10, others));
    EXPECT_TRUE(samples_.keeps_any_before(101));
    EXPECT_THAT(told_.all, ElementsAre());
    send({{call(20), 90}});
    EXPECT_THAT(told_.all, ElementsAre("100 in 20 10", "end of 10"));
    samples_.let_go(101 + TaskSamples::patience_ns);
    EXPECT_EQ(told_.all.back(), "101 in 11");
    EXPECT_EQ(samples_.waits(), 2u);
}

TEST_F(TaskSamplesTest, OfWaitsMayBeUnwanted) {
    unwanted_ = {101};
    for (const uint64_t time : {100, 101, 102})
        wait(time);
    send({{call(20), 90}, {call(21, others), 90}});
    EXPECT_THAT(told_.all, ElementsAre("100 in 20 21", "102 in 20 21"));
    EXPECT_EQ(samples_.waits(), 2u);
    EXPECT_EQ(samples_.unwanted_waits(), 1u);
}

// Half of the room is any process's, the other half is left for others.
TEST_F(TaskSamplesTest, OfWaitsAreNotKeptWithoutEnd) {
    constexpr size_t half = TaskSamples::most / 2;
    constexpr uint32_t other = pid + 1, third = pid + 2;
    for (size_t i = 0; i < half; i++)
        ASSERT_TRUE(wait(i, i));
    EXPECT_FALSE(wait(1, 1));
    for (size_t i = 0; i < half; i++)
        ASSERT_TRUE(wait(i, i, {}, other));
    EXPECT_FALSE(wait(1, 1, {}, third));
    keep(100, {});
    send({{call(20), 0}}, 1);
    EXPECT_THAT(told_.all, ElementsAre("1 in 20"));
    EXPECT_TRUE(wait(2, 1, {}, third));
    EXPECT_FALSE(wait(3, 1));
    samples_.let_all_go();
    EXPECT_THAT(told_.all, ElementsAre("1 in 20", "100 in"));
    EXPECT_TRUE(wait(3, 1));
}

TEST_F(TaskSamplesTest, OfWaitsTakeNoMoreMemoryThanTheyMay) {
    constexpr size_t depth = 2048; // as deep as chains may be
    size_t kept = 0;
    while (wait(kept, kept, {}, pid, depth))
        kept++;
    EXPECT_LT(kept * depth * sizeof(LocationId), TaskSamples::most_wait_bytes);
    EXPECT_GT((kept + 1) * depth * sizeof(LocationId), TaskSamples::most_wait_bytes * 9 / 10);
    samples_.let_all_go();
    EXPECT_TRUE(wait(1, 1, {}, pid, depth));
}

TEST_F(TaskSamplesTest, AreNotKeptWithoutEnd) {
    for (size_t i = 0; i < TaskSamples::most; i++)
        keep(i, {}, i);
    EXPECT_THAT(told_.all, ElementsAre());
    keep(TaskSamples::most, {});
    EXPECT_EQ(told_.all.size(), TaskSamples::most);
}

} // namespace
} // namespace auger
