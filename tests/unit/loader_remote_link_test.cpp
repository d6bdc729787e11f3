// SPDX-License-Identifier: GPL-3.0-or-later
// The console's end of a conversation with an agent, whatever the agent says, and the agent's end
// of the stream, however slowly it is read.
#include "loader/remote/agent_link.h"
#include "loader/remote/agent_stream.h"
#include "loader/stream/quiet_sink.h"
#include "loader/stream/tee.h"
#include "tests/unit/loader_recording_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace auger::remote {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string greeted(std::string frames) {
    return std::string(preamble) + std::move(frames);
}

std::string frame(FrameKind kind, std::string_view body) {
    std::string bytes;
    put_frame(bytes, kind, body);
    return bytes;
}

// An agent as the link sees it, without one.
struct Conversation {
    AgentLink link{own_hello("auger test"), OpenRequest{1000, 100, false, 0}};
    FrameReader sent; // by the console

    std::vector<ReceivedFrame> heard() {
        sent.add(link.outgoing());
        link.outgoing().clear();
        std::vector<ReceivedFrame> frames;
        while (auto next = *sent.next())
            frames.push_back(*next);
        return frames;
    }
    Result<void> say(const std::string& bytes, uint64_t now_ns = 1000) {
        return link.take(bytes, now_ns);
    }
    Result<void> say(FrameKind kind, const auto& body, uint64_t now_ns = 1000) {
        return say(frame(kind, encoded(body)), now_ns);
    }
    // Its clock is 500 behind ours, its answers take `trip`.
    void open(uint64_t trip = 10) {
        ASSERT_TRUE(say(greeted("")));
        ASSERT_TRUE(say(FrameKind::hello, own_hello("auger agent")));
        uint64_t now = 1000;
        for (bool asked = false; !asked;)
            for (const ReceivedFrame& one : heard()) {
                asked |= one.kind == uint64_t(FrameKind::open);
                if (one.kind != uint64_t(FrameKind::ping))
                    continue;
                const auto ping = decoded<Ping>(one.body);
                now += trip;
                ASSERT_TRUE(
                    say(FrameKind::pong, Pong{ping->console_ns, now - trip / 2 - 500}, now));
            }
        ASSERT_TRUE(say(frame(FrameKind::answer, encoded_answer(0, encoded(OpenReport{})))));
        ASSERT_TRUE(link.open());
    }
};

TEST(AgentLink, OpensWhenTheClockIsKnown) {
    Conversation it;
    it.open(10);
    EXPECT_EQ(it.link.clock().shift_ns(), 500);
    EXPECT_EQ(it.link.clock().error_ns(), 5u);
}

TEST(AgentLink, AnswersAreByNumberAndOnce) {
    Conversation it;
    it.open();
    const uint64_t one = it.link.ask(Refresh{}), two = it.link.ask(PlanProbe{"f"}),
                   three = it.link.ask(Refresh{});
    EXPECT_EQ(it.heard().size(), 3u);
    ASSERT_TRUE(
        it.say(frame(FrameKind::answer, encoded_answer(two, Error{"time", "f", "no", ""}))));
    EXPECT_FALSE(it.link.take_answer(one));
    EXPECT_EQ(it.link.take_answer(two)->error().cause, "no");
    EXPECT_FALSE(it.link.take_answer(two));
    it.link.forget(three);
    ASSERT_TRUE(it.say(frame(FrameKind::answer, encoded_answer(three, std::string("x")))));
    EXPECT_FALSE(it.link.take_answer(three));
    EXPECT_FALSE(it.say(frame(FrameKind::answer, encoded_answer(99, std::string("x")))))
        << "what was not asked was answered";
}

TEST(AgentLink, HoldsTheStreamBackUntilItIsWanted) {
    Conversation it;
    it.open();
    RecordEncoder records;
    StreamGenerator generator(3);
    Tee both(records);
    Transcript whole, first;
    both.add(whole);
    generator.definitions(both);
    generator.events(both, 200);
    const std::string& bytes = records.bytes();
    ASSERT_TRUE(it.say(frame(FrameKind::block, encoded_block({generator.now(), bytes}, true))));
    EXPECT_EQ(it.link.until_ns(), generator.now());
    EXPECT_GT(it.link.held_bytes(), bytes.size());
    const auto next = it.link.next_time(first);
    ASSERT_TRUE(next && *next);
    const size_t definitions = first.lines.size();
    EXPECT_GT(definitions, 0u);
    EXPECT_LT(definitions, whole.lines.size());
    size_t steps = 0;
    EXPECT_FALSE(*it.link.deliver(first, UINT64_MAX - 1, [&] { return ++steps < 10; }));
    EXPECT_EQ(first.lines.size(), definitions + 10);
    EXPECT_TRUE(*it.link.deliver(first, UINT64_MAX - 1, [] { return true; }));
    EXPECT_EQ(first.lines, whole.lines);
    EXPECT_EQ(it.link.held_bytes(), 0u);
}

TEST(AgentLink, WhatMakesNoSenseEndsTheConversation) {
    const auto is_refused = [](auto say) {
        Conversation it;
        it.open();
        return !say(it);
    };
    EXPECT_TRUE(is_refused([](auto& it) { return it.say(FrameKind::hello, own_hello("again")); }));
    EXPECT_TRUE(is_refused([](auto& it) { return it.say(FrameKind::pong, Pong{1, 2}); }));
    EXPECT_TRUE(is_refused([](auto& it) { return it.say(frame(FrameKind::state, "\xff\xff")); }));
    EXPECT_TRUE(is_refused([](auto& it) { return it.say(frame(FrameKind::block, "")); }));
    EXPECT_TRUE(is_refused([](auto& it) {
        return it.say(frame(FrameKind::answer, encoded_answer(0, std::string())));
    }));
    EXPECT_TRUE(is_refused([](auto& it) {
        return it.say(FrameKind::end, Error{"", "", "the agent says why", ""});
    }));
    EXPECT_FALSE(is_refused([](auto& it) { return it.say(frame(FrameKind{200}, "newer")); }));
    // A record of a stack that is not defined.
    Conversation it;
    it.open();
    RecordEncoder records;
    records.on_sample({5, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {}});
    ASSERT_TRUE(it.say(frame(FrameKind::block, encoded_block({9, records.bytes()}, false))));
    Transcript nobody;
    EXPECT_FALSE(it.link.deliver(nobody, UINT64_MAX - 1, [] { return true; }));
    EXPECT_THAT(nobody.lines, IsEmpty());
}

TEST(ClockOffset, TheShortestRoundTripCountsAndStays) {
    ClockOffset clock;
    clock.add(1000, 5000, 1100); // 50 in the middle: at 1050
    EXPECT_EQ(clock.shift_ns(), -3950);
    EXPECT_EQ(clock.error_ns(), 50u);
    clock.add(2000, 6010, 2004);
    EXPECT_EQ(clock.shift_ns(), -4008);
    for (int i = 0; i < 3; i++)
        clock.add(3000, 6000, 3400);
    ASSERT_TRUE(clock.fixed());
    EXPECT_EQ(clock.error_ns(), 2u);
    for (int i = 0; i < 8; i++) // its clock is slower by now
        clock.add(9000, 12'000, 9010);
    EXPECT_EQ(clock.shift_ns(), -4008) << "calls that are open are known by when they began";
    EXPECT_EQ(clock.error_ns(), 5u + (4008 - 2995));
    EXPECT_FALSE(clock.has_jumped());
}

// One of the machines slept, which no drift and no slow answer looks like.
TEST(ClockOffset, ThatHasJumpedIsTold) {
    constexpr uint64_t s = 1'000'000'000;
    ClockOffset clock;
    for (size_t i = 0; i < ClockOffset::pings_to_fix; i++)
        clock.add(10 * s, 20 * s, 10 * s + 1000);
    for (int i = 0; i < 8; i++) // answers that took long
        clock.add(30 * s, 49 * s, 39 * s);
    EXPECT_FALSE(clock.has_jumped());
    for (int i = 0; i < 8; i++)
        clock.add(40 * s, 50 * s + s - 1000, 40 * s + 1000);
    EXPECT_FALSE(clock.has_jumped());
    for (int i = 0; i < 8; i++)
        clock.add(50 * s, 61 * s + 2000, 50 * s + 1000);
    EXPECT_TRUE(clock.has_jumped());
}

class CrowdedStream : public testing::Test {
  protected:
    bool crowded = false;
    AgentStream stream{[this] { return crowded; }};
    RecordDecoder decoder;
    Transcript told;

    CrowdedStream() {
        stream.on_module(ModuleId{0}, {ModuleKind::file, "/bin/x", ""});
        stream.on_location(LocationId{0}, {ModuleId{0}, 1, false});
        stream.on_stack(StackId{0}, std::array{LocationId{0}});
        stream.on_thread(ThreadId{0}, {1, 1, "x"});
        stream.on_spec(SpecId{0}, {ProbeId{1}, "f", "/bin/x", 0, ObservedExit()});
        stream.on_probe({ProbeId{1}, "f", {SpecId{0}}, {}, false});
        take();
        told.lines.clear();
    }
    void take() {
        while (auto block = stream.take_block()) {
            decoder.start_block(block->records);
            for (;;) {
                const auto step = decoder.step(told, UINT64_MAX);
                ASSERT_NE(step, RecordDecoder::Step::damaged) << decoder.problem();
                if (step == RecordDecoder::Step::block_end)
                    break;
            }
        }
    }
    void sample(uint64_t time, std::vector<CallKey> calls = {}) {
        stream.on_sample({time, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, calls});
    }
    void end(uint64_t time, const CallKey& call) {
        stream.on_call_end({time, 5, ThreadId{0}, call, 1});
    }
    StatsEvent stats(uint64_t time, uint64_t calls, uint32_t bucket) {
        StatsEvent event;
        event.time_ns = time;
        event.entries = event.returns = calls;
        event.sum_ns = calls * 5;
        event.min_ns = 5;
        event.max_ns = 9 + bucket;
        event.buckets = {{bucket, calls}};
        return event;
    }
    size_t count(const std::string& word) const {
        return static_cast<size_t>(std::ranges::count_if(
            told.lines, [&](const std::string& line) { return line.starts_with(word); }));
    }
};

TEST_F(CrowdedStream, DropsSamplesAndCountsThem) {
    const CallKey before{10, 1, SpecId{0}}, after{20, 2, SpecId{0}};
    sample(11, {before});
    crowded = true;
    for (int i = 0; i < 5; i++)
        sample(21, {after});
    end(30, before);
    end(31, after);
    LedgerEvent ledger;
    ledger.lost[lost_samples] = 2;
    stream.on_ledger(ledger);
    EXPECT_EQ(stream.lost_samples(), 5u);
    crowded = false;
    sample(40);
    stream.on_ledger(ledger);
    take();
    EXPECT_EQ(count("sample"), 2u) << testing::PrintToString(told.lines);
    EXPECT_EQ(count("call_end"), 1u) << "of a call without samples there nobody wants to hear";
    std::string last;
    for (const std::string& line : told.lines)
        if (line.starts_with("ledger"))
            last = line;
    EXPECT_THAT(last, HasSubstr(std::string(lost_on_the_way) + "=5"));
}

// However often it is crowded in between: what is told adds up to what happened.
TEST_F(CrowdedStream, StatisticsAreNeverDropped) {
    StatsEvent sum, told_sum;
    struct Sum final : QuietSink {
        StatsEvent& to;
        explicit Sum(StatsEvent& sum) : to(sum) {}
        void on_stats(const StatsEvent& event) override { add_stats(to, event); }
    } sink(told_sum);
    std::mt19937 random(2);
    for (uint64_t i = 0; i < 500; i++) {
        crowded = random() % 3 != 0;
        const StatsEvent one = stats(100 + i, 1 + random() % 9, random() % 20);
        stream.on_stats(one);
        add_stats(sum, one);
        if (random() % 4)
            continue;
        crowded = random() % 2 && i < 499;
        while (auto block = stream.take_block()) {
            decoder.start_block(block->records);
            while (decoder.step(sink, UINT64_MAX) == RecordDecoder::Step::delivered)
                ;
        }
    }
    crowded = false;
    while (auto block = stream.take_block()) {
        decoder.start_block(block->records);
        while (decoder.step(sink, UINT64_MAX) == RecordDecoder::Step::delivered)
            ;
    }
    EXPECT_EQ(told_sum.entries, sum.entries);
    EXPECT_EQ(told_sum.sum_ns, sum.sum_ns);
    ASSERT_EQ(told_sum.buckets.size(), sum.buckets.size());
    for (size_t i = 0; i < sum.buckets.size(); i++)
        EXPECT_EQ(told_sum.buckets[i].count, sum.buckets[i].count);
}

} // namespace
} // namespace auger::remote
