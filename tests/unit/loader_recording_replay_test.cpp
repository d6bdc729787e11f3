// SPDX-License-Identifier: GPL-3.0-or-later
// A recording behind the interface of the live kernel.
#include "loader/recording/playback_clock.h"
#include "loader/recording/recording_writer.h"
#include "loader/recording/replay_backend.h"
#include "tests/unit/loader_recording_index.h"
#include "tests/unit/loader_recording_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace auger {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t start = 100 * second;

Threshold fixed(uint64_t ns) {
    return {Threshold::Kind::fixed, ns, 0};
}
Threshold percentile(double p) {
    return {Threshold::Kind::percentile, 0, p};
}

class LoaderRecordingReplay : public testing::Test {
  protected:
    LoaderRecordingReplay() {
        std::string name = testing::TempDir() + "auger-replay-XXXXXX";
        folder_ = mkdtemp(name.data());
        path_ = folder_ + "/a.rec";
        write();
    }
    ~LoaderRecordingReplay() override { std::filesystem::remove_all(folder_); }

    // 10 s: `handle` is added at 1 s as probe 1 and traced beyond 5 ms from 2 s on, `recv` at 3 s
    // as probe 2, split on handle at 4 s; a slow call of 6 + i ms at 5 + i s.
    void write() {
        auto writer = RecordingWriter::create(path_);
        ASSERT_TRUE(writer);
        EventSink& sink = **writer;
        sink.on_module(ModuleId{0}, {ModuleKind::file, "/srv/demo", "abcd"});
        sink.on_location(LocationId{0}, {ModuleId{0}, 0x1000, false});
        sink.on_stack(StackId{0}, std::vector{LocationId{0}});
        sink.on_thread(ThreadId{0}, {70, 71, "worker"});
        sink.on_thread(ThreadId{1}, {70, 70, "demo"});
        sink.on_time(start);
        LedgerEvent ledger;
        ledger.time_ns = start;
        ledger.rate_hz = 999;
        ledger.rate_achieved_hz = 998.5;
        sink.on_ledger(ledger);
        sink.on_time(start + second);
        sink.on_spec(SpecId{0},
                     {ProbeId{1}, "handle(int)", "/srv/demo", 0x1000, ObservedExit::parse("ret")});
        sink.on_probe({ProbeId{1}, "handle", {SpecId{0}}, {}, false});
        stats(sink, 1, 0);
        sink.on_time(start + 2 * second);
        sink.on_probe({ProbeId{1}, "handle", {SpecId{0}}, fixed(5'000'000), false});
        sink.on_time(start + 3 * second);
        sink.on_spec(SpecId{1}, {ProbeId{2}, "recv", "/lib/libc.so.6", 0x2000,
                                 ObservedExit::parse("trampoline")});
        sink.on_probe({ProbeId{2}, "recv", {SpecId{1}}, {}, false});
        stats(sink, 3, 1);
        sink.on_time(start + 4 * second);
        sink.on_split({true, ProbeId{1}, percentile(95), false});
        for (uint64_t i = 0; i < 5; ++i) {
            const uint64_t now = start + (5 + i) * second;
            SlowCallEvent slow{{now,
                                (6 + i) * 1'000'000,
                                ThreadId{0},
                                {now - (6 + i) * 1'000'000, 1, SpecId{0}},
                                0,
                                false,
                                {}},
                               5'000'000,
                               StackId{0},
                               {}};
            sink.on_slow_call(slow);
        }
        sink.on_time(start + 10 * second);
        ASSERT_TRUE((*writer)->finish());
    }
    static void stats(EventSink& sink, uint64_t at, uint32_t spec) {
        StatsEvent stats{};
        stats.time_ns = start + at * second;
        stats.spec = SpecId{spec};
        stats.entries = 1;
        sink.on_stats(stats);
    }

    void open(std::optional<double> speed = {}) {
        auto backend = open_replay(std::vector{path_}, seen_, {speed, {}});
        ASSERT_TRUE(backend) << backend.error().message();
        backend_ = std::move(backend).value();
    }
    bool poll(std::chrono::nanoseconds timeout) {
        const auto more = backend_->poll(timeout, -1);
        EXPECT_TRUE(more);
        return more && *more;
    }
    std::vector<std::string> seen(const std::string& kind) const {
        std::vector<std::string> found;
        for (const std::string& line : seen_.lines)
            if (line.starts_with(kind + " "))
                found.push_back(line);
        return found;
    }
    static std::string message(const Result<void>& result) {
        return result ? "" : result.error().message();
    }

    std::string folder_, path_;
    Transcript seen_;
    std::unique_ptr<Backend> backend_;
};

const std::string no_slow = "threshold 0 0 0", over_5ms = "threshold 1 5000000 0";

TEST_F(LoaderRecordingReplay, DeliversAsMuchTimeAsIsAskedFor) {
    open();
    EXPECT_TRUE(backend_->replaying());
    EXPECT_EQ(backend_->now_ns(), start);
    EXPECT_TRUE(seen_.lines.empty()) << "only poll() delivers";
    EXPECT_TRUE(poll(0s));
    EXPECT_EQ(seen("ledger").size(), 1u);
    EXPECT_EQ(seen("probe").size(), 0u);
    EXPECT_TRUE(poll(999ms));
    EXPECT_EQ(seen("stats").size(), 0u);
    EXPECT_TRUE(poll(1ms));
    EXPECT_EQ(seen("stats").size(), 1u);
    EXPECT_EQ(backend_->now_ns(), start + second);
    EXPECT_TRUE(poll(1500ms));
    EXPECT_EQ(seen_.lines.back(), "time 102500000000") << "time passes between events";
    EXPECT_TRUE(poll(5s));
    EXPECT_EQ(seen("slow_call").size(), 3u);
    EXPECT_FALSE(poll(1h));
    EXPECT_EQ(seen("slow_call").size(), 5u);
    EXPECT_EQ(backend_->now_ns(), start + 10 * second) << "the recording's end, not an hour later";
    EXPECT_FALSE(poll(1s));
}

TEST_F(LoaderRecordingReplay, AtASpeedTimeHasToPass) {
    constexpr double speed = 200; // 10 s of recording in 50 ms
    const auto begin = std::chrono::steady_clock::now();
    open(speed);
    EXPECT_TRUE(backend_->live());
    bool more = true;
    while (more) {
        const uint64_t before = backend_->now_ns();
        more = poll(std::chrono::seconds(1));
        EXPECT_LE(backend_->now_ns() - before, 1'000'000'000u) << "more than was asked for";
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        EXPECT_LE(double(backend_->now_ns() - start) / 1e9, passed.count() * speed) << "too early";
    }
    const auto paced = seen_.lines;
    backend_.reset();
    seen_.lines.clear();
    open();
    EXPECT_FALSE(backend_->live());
    while (poll(std::chrono::seconds(3600))) {
    }
    const auto events = [](const std::vector<std::string>& lines) {
        std::vector<std::string> kept;
        std::ranges::copy_if(lines, std::back_inserter(kept),
                             [](const std::string& line) { return !line.starts_with("time "); });
        return kept;
    };
    EXPECT_EQ(events(paced), events(seen_.lines));
}

TEST(PlaybackClock, TakesWhatIsDueAndNoTimeInWhichNobodyAsked) {
    using namespace std::chrono_literals;
    const PlaybackClock::Time begin = PlaybackClock::Time(1h);
    PlaybackClock clock(2, begin);
    EXPECT_EQ(clock.take(begin + 10ms, UINT64_MAX), 20'000'000u);
    EXPECT_EQ(clock.take(begin + 10ms, UINT64_MAX), 0u);
    EXPECT_EQ(clock.take(begin + 110ms, 50'000'000), 50'000'000u) << "no more than the limit";
    EXPECT_EQ(clock.take(begin + 110ms, UINT64_MAX), 150'000'000u) << "the rest stays due";
    EXPECT_EQ(clock.take(begin + 1h, UINT64_MAX), 2'000'000'000u) << "suspended for an hour";
}

TEST_F(LoaderRecordingReplay, EverythingIsDeliveredAsRecorded) {
    open();
    EXPECT_FALSE(poll(std::chrono::nanoseconds::max()));
    EXPECT_THAT(seen("probe"), ElementsAre("probe 1 handle " + no_slow + " false 0",
                                           "probe 1 handle " + over_5ms + " false 0",
                                           "probe 2 recv " + no_slow + " false 1"));
    EXPECT_THAT(seen("split"), ElementsAre("split true 1 threshold 2 0 95 false"));
    EXPECT_THAT(seen("notice"), ElementsAre());
}

TEST_F(LoaderRecordingReplay, AWakeUpEndsALongPoll) {
    open();
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    const auto more = backend_->poll(1h, ends[0]);
    ASSERT_TRUE(more);
    EXPECT_TRUE(*more);
    EXPECT_LT(backend_->now_ns(), start + 5 * second);
    close(ends[0]);
    close(ends[1]);
}

TEST_F(LoaderRecordingReplay, ARecordedProbeIsThereFromTheStart) {
    open();
    const auto report = backend_->add_probe({ProbeId{1}, "handle", {}});
    ASSERT_TRUE(report) << report.error().message();
    ASSERT_EQ(report->places.size(), 1u);
    EXPECT_EQ(report->places[0].function, "handle(int)");
    EXPECT_EQ(report->places[0].offset, 0x1000u);
    EXPECT_EQ(report->places[0].kind, "entry+ret");
    EXPECT_TRUE(poll(0s));
    EXPECT_THAT(seen("probe"), ElementsAre("probe 1 handle " + no_slow + " false 0"));
    EXPECT_FALSE(poll(1h));
    EXPECT_EQ(seen("spec").size(), 2u) << "each is defined once";
}

// The console counts its probes from 1, in whatever order they are asked for.
TEST_F(LoaderRecordingReplay, RecordedProbesTakeTheConsolesIds) {
    open();
    ASSERT_TRUE(backend_->add_probe({ProbeId{1}, "recv", {}}));
    EXPECT_FALSE(poll(1h));
    EXPECT_THAT(seen("spec"), ElementsAre("spec 0 2 handle(int) /srv/demo 4096 ret",
                                          "spec 1 1 recv /lib/libc.so.6 8192 trampoline"));
    EXPECT_EQ(seen("probe").front(), "probe 1 recv " + no_slow + " false 1");
    EXPECT_THAT(seen("probe"), Contains("probe 2 handle " + over_5ms + " false 0"));
    EXPECT_THAT(seen("split"), ElementsAre("split true 2 threshold 2 0 95 false"));
}

TEST_F(LoaderRecordingReplay, AProbeThatWasSeenAlreadyIsRenamed) {
    open();
    EXPECT_TRUE(poll(4500ms));
    ASSERT_TRUE(backend_->add_probe({ProbeId{7}, "handle", {}}));
    seen_.lines.clear();
    EXPECT_TRUE(poll(0s));
    ASSERT_GE(seen_.lines.size(), 4u);
    EXPECT_EQ(seen_.lines[0], "probe 1  " + no_slow + " true") << "the old id is gone";
    EXPECT_EQ(seen_.lines[1], "spec 0 7 handle(int) /srv/demo 4096 ret");
    EXPECT_EQ(seen_.lines[2], "probe 7 handle " + over_5ms + " false 0");
    EXPECT_EQ(seen_.lines[3], "split true 7 threshold 2 0 95 false");
    EXPECT_THAT(message(backend_->set_slow(ProbeId{1}, {})), HasSubstr("no such probe"));
    EXPECT_EQ(message(backend_->set_slow(ProbeId{7}, {})), "");
}

TEST_F(LoaderRecordingReplay, ADeletedProbeStaysAwayAndComesBackWhenAskedFor) {
    open();
    ASSERT_TRUE(backend_->add_probe({ProbeId{1}, "handle", {}}));
    EXPECT_TRUE(poll(0s));
    ASSERT_TRUE(backend_->remove_probe(ProbeId{1}));
    EXPECT_TRUE(poll(6s));
    EXPECT_EQ(seen("probe")[1], "probe 1 handle " + no_slow + " true 0");
    EXPECT_THAT(seen("stats"), ElementsAre(HasSubstr("stats 103000000000 1 ")));
    EXPECT_EQ(seen("slow_call").size(), 0u);
    EXPECT_THAT(message(backend_->remove_probe(ProbeId{1})), HasSubstr("no such probe"));
    ASSERT_TRUE(backend_->add_probe({ProbeId{3}, "handle", {}}));
    EXPECT_FALSE(poll(1h));
    EXPECT_EQ(seen("slow_call").size(), 3u);
}

TEST_F(LoaderRecordingReplay, SlowCallsCanOnlyBecomeFewer) {
    open();
    EXPECT_THAT(message(backend_->set_slow(ProbeId{1}, fixed(4'000'000))),
                HasSubstr("does not hold all calls > 4ms (it has those > 5ms)"));
    EXPECT_THAT(message(backend_->set_slow(ProbeId{1}, percentile(95))), HasSubstr("> p95"));
    EXPECT_THAT(message(backend_->set_slow(ProbeId{2}, fixed(5'000'000))),
                HasSubstr("without tracing"));
    EXPECT_FALSE(backend_->add_probe({ProbeId{5}, "handle", fixed(1)}));
    ASSERT_EQ(message(backend_->set_slow(ProbeId{1}, fixed(8'000'000))), "");
    EXPECT_FALSE(poll(1h));
    EXPECT_EQ(seen("slow_call").size(), 2u) << "those of 9 and 10 ms";
    EXPECT_THAT(seen("slow_call")[0], HasSubstr(" 9000000 "));
    EXPECT_THAT(seen("slow_call")[0], HasSubstr(" 8000000 0"));
    EXPECT_EQ(seen("probe").back(), "probe 2 recv " + no_slow + " false 1");
    EXPECT_THAT(seen("probe"), Not(Contains("probe 1 handle " + over_5ms + " false 0")));
}

TEST_F(LoaderRecordingReplay, TheConsolesSplitOutlivesTheRecordedOne) {
    open();
    ASSERT_TRUE(backend_->set_split({true, ProbeId{2}, fixed(1000), false}));
    EXPECT_FALSE(poll(1h));
    EXPECT_THAT(seen("split"), ElementsAre("split true 2 threshold 1 1000 0 false"));
    EXPECT_FALSE(backend_->set_split({true, ProbeId{9}, fixed(1000), false}));
}

TEST_F(LoaderRecordingReplay, WhatWasNotRecordedIsRefusedWithWhatWas) {
    open();
    const auto report = backend_->add_probe({ProbeId{1}, "parse", {}});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message(),
              "add probe parse: a recording has only the target that was observed (it "
              "has the probes handle, recv)");
    EXPECT_EQ(report.error().kind, Error::Kind::failed);
    TargetSpec target;
    target.kind = TargetSpec::Kind::all;
    EXPECT_THAT(message(backend_->set_target(target)), HasSubstr("recording"));
    FilterSpec filter;
    filter.pids = {1};
    EXPECT_THAT(message(backend_->set_filter(filter)), HasSubstr("recording"));
    EXPECT_THAT(message(backend_->set_way_out(WayOut::ret)), HasSubstr("recording"));
    EXPECT_THAT(message(backend_->record(folder_ + "/b.rec")), HasSubstr("recording"));
    EXPECT_EQ(message(backend_->set_sampling({999, false})), "");
    EXPECT_THAT(message(backend_->set_sampling({99, false})), HasSubstr("it was made at 999 Hz"));
    EXPECT_EQ(message(backend_->start_command()), "");
    EXPECT_TRUE(backend_->links().empty());
}

// handle is split at main.cc:12 (bit 3) from 2 to 4 s, by arg1 from 2 s on, and `only` names
// main.cc:20 (bit 5) and a gate from 3 s on; recv counts `if ret < 0` only.
class LoaderReplayOfMarks : public LoaderRecordingReplay {
  protected:
    LoaderReplayOfMarks() {
        auto writer = RecordingWriter::create(path_);
        EXPECT_TRUE(writer);
        EventSink& sink = **writer;
        sink.on_thread(ThreadId{0}, {70, 70, "demo"});
        sink.on_spec(SpecId{0},
                     {ProbeId{1}, "handle(int)", "/srv/demo", 0x1000, ObservedExit::parse("ret")});
        sink.on_spec(SpecId{1},
                     {ProbeId{2}, "recv", "/lib/libc.so.6", 0x2000, ObservedExit::parse("ret")});
        sink.on_probe({ProbeId{1}, "handle", {SpecId{0}}, {}, false});
        sink.on_probe({ProbeId{2}, "recv", {SpecId{1}}, {}, false, {"ret < 0", "", {}, true}});
        sink.on_time(start + 2 * second);
        SplitInfo split{true,  ProbeId{1}, fixed(1000), false, Branch::at_line("main.cc:12"),
                        "arg1"};
        split.branch_bit = 3;
        split.branch_since_ns = split.label_since_ns = start + 2 * second;
        sink.on_split(split);
        sink.on_time(start + 3 * second);
        OnlyInfo only{"in recv and at main.cc:20", {}, {"main.cc:20"}, {{{0}, {}}}, {}};
        only.gate.terms = {{GateTerm::Kind::call, ProbeId{2}, {}, 0, ""}};
        only.gate.clauses = {{{0}, {}}};
        only.marks = {{5, "at main.cc:20", start + 3 * second}};
        sink.on_only(only);
        sink.on_time(start + 4 * second);
        split.branch = {};
        sink.on_split(split);
        sink.on_time(start + 10 * second);
        EXPECT_TRUE((*writer)->finish());
    }
};

TEST_F(LoaderReplayOfMarks, WhatWasWatchedCanBeSplitByAgain) {
    open();
    SplitInfo split{true, ProbeId{1}, percentile(95), false, Branch::at_line("main.cc:12"), "arg1"};
    ASSERT_EQ(message(backend_->set_split(split)), "");
    EXPECT_FALSE(poll(1h));
    EXPECT_THAT(seen("split"),
                ElementsAre("split true 1 threshold 2 0 95 false at main.cc:12 bit 3 from "
                            "102000000000 to 104000000000 by arg1 from 102000000000 to "
                            "18446744073709551615"));
    split.branch = Branch::at_line("main.cc:20"); // of `only`: watched of every call
    EXPECT_EQ(message(backend_->set_split(split)), "");
    split.branch = Branch::at_line("main.cc:13");
    EXPECT_EQ(message(backend_->set_split(split)),
              "split at main.cc:13: that was not watched in the recording (it has at main.cc:12, "
              "at main.cc:20)");
    split.branch = {};
    split.label = "arg2";
    EXPECT_EQ(message(backend_->set_split(split)),
              "split by arg2: that was not watched in the recording (it has arg1)");
    split.probe = ProbeId{2}; // another probe's calls
    split.label = "arg1";
    EXPECT_THAT(message(backend_->set_split(split)), HasSubstr("not watched"));
}

TEST_F(LoaderReplayOfMarks, OnlyAsRecordedOrOtherLines) {
    open();
    ASSERT_TRUE(backend_->add_probe({ProbeId{1}, "recv", {}})); // takes another id
    OnlyInfo only;
    only.text = "in recv and not at main.cc:12";
    only.gate.terms = {{GateTerm::Kind::call, ProbeId{1}, {}, 0, ""}};
    only.gate.clauses = {{{0}, {}}};
    only.lines = {"main.cc:12"};
    only.line_clauses = {{{}, {0}}};
    ASSERT_EQ(message(backend_->set_only(only)), "");
    EXPECT_FALSE(poll(1h));
    EXPECT_THAT(seen("only"),
                ElementsAre("only in recv and not at main.cc:12 (0 1 threshold 0 0 0 0 ) [ 0 ] at "
                            "main.cc:12 [ !0 ] mark 3 at main.cc:12 from 102000000000 to "
                            "104000000000"));
    only.lines = {"main.cc:99"};
    EXPECT_THAT(message(backend_->set_only(only)), HasSubstr("only main.cc:99: that was not"));
    only.lines = {"main.cc:12"};
    only.gate.terms[0].older = fixed(5);
    EXPECT_THAT(message(backend_->set_only(only)), HasSubstr("was not made with that"));
    EXPECT_EQ(message(backend_->set_only({})), "");
}

TEST_F(LoaderReplayOfMarks, TheRecordedOnlyNamesProbesAsTheConsoleDoes) {
    open();
    ASSERT_TRUE(backend_->add_probe({ProbeId{1}, "recv", {}}));
    EXPECT_FALSE(poll(1h));
    EXPECT_THAT(seen("only"), ElementsAre(HasSubstr("(0 1 threshold")));
}

TEST_F(LoaderReplayOfMarks, ConditionsOfCallsAreThoseRecorded) {
    open();
    EXPECT_TRUE(backend_->add_probe({ProbeId{1}, "handle", {}}));
    EXPECT_TRUE(backend_->add_probe({ProbeId{2}, "recv", {}, {"ret < 0", "", {}, true}}));
    EXPECT_EQ(message(backend_->set_slow(ProbeId{2}, {}, {"ret > 5", "", {}, true})),
              "ask of calls of recv ret > 5: the recording was not made with that (a recording "
              "answers only what was asked when it was made)");
    EXPECT_THAT(message(backend_->set_slow(ProbeId{2}, {})), HasSubstr("not made with that"));
    const auto open_calls = backend_->open_calls(std::nullopt);
    ASSERT_FALSE(open_calls);
    EXPECT_THAT(open_calls.error().message(), HasSubstr("does not hold what is running now"));
}

TEST_F(LoaderRecordingReplay, SaysWhatItHas) {
    open();
    EXPECT_THAT(backend_->complete_function("ha", 10), ElementsAre("handle", "handle(int)"));
    EXPECT_THAT(backend_->complete_function("", 1).size(), 1u);
    ASSERT_EQ(backend_->target_status().processes.size(), 1u);
    EXPECT_EQ(backend_->target_status().processes[0].comm, "demo");
    EXPECT_EQ(backend_->target_status().processes[0].pid, 70);
    ASSERT_EQ(backend_->capabilities().size(), 1u);
    EXPECT_THAT(backend_->capabilities()[0].detail, HasSubstr("10.000 s with 8 events"));
}

TEST_F(LoaderRecordingReplay, DamageIsToldAtOnceAndTheRestIsUsed) {
    const size_t end_mark = index_of(path_).blocks.back().offset;
    std::filesystem::resize_file(path_, end_mark + 1);
    open();
    EXPECT_TRUE(poll(0s));
    EXPECT_THAT(seen("notice"), ElementsAre(HasSubstr("the file ends inside a block")));
    EXPECT_FALSE(poll(1h));
    EXPECT_EQ(seen("stats").size(), 2u);
    EXPECT_EQ(backend_->capabilities()[0].state, Capability::State::degraded);

    std::filesystem::resize_file(path_, 16);
    EXPECT_THAT(open_replay(std::vector{path_}, seen_).error().message(),
                HasSubstr("nothing could be read"));
}

} // namespace
} // namespace auger
