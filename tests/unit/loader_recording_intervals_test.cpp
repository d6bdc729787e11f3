// SPDX-License-Identifier: GPL-3.0-or-later
// A session's stream as recordings that follow each other: each opens by itself, together they are
// the stream, with nothing lost and nothing twice.
#include "loader/process/file_series.h"
#include "loader/recording/merged_recordings.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/loader_recording_index.h"
#include "tests/unit/loader_recording_session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace auger {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t second = RecordedSession::second;

class RecordingIntervals : public testing::Test {
  protected:
    std::string folder() const { return temporary_.path("day"); }
    std::vector<std::string> files() const {
        std::vector<std::string> paths;
        for (const auto& entry : fs::directory_iterator(folder()))
            if (!entry.is_symlink())
                paths.push_back(entry.path());
        std::ranges::sort(paths);
        return paths;
    }
    static Transcript read(const std::string& path, std::string* damage = nullptr) {
        auto reader = RecordingReader::open(path);
        EXPECT_TRUE(reader) << reader.error().message();
        Transcript transcript;
        reader->deliver(transcript);
        if (damage)
            *damage = reader->damage_text();
        else
            EXPECT_EQ(reader->damage_text(), "");
        return transcript;
    }
    static uint64_t time_of(const std::string& event) {
        return std::stoull(event.substr(event.find(' ') + 1));
    }
    // Without the account, which each recording begins with, and how many changes came before,
    // which are told again in each.
    static std::vector<std::string> comparable(const std::vector<std::string>& events) {
        std::vector<std::string> kept;
        for (const std::string& event : events)
            if (!event.starts_with("ledger"))
                kept.push_back(event.substr(0, event.rfind(" after ")));
        return kept;
    }

    test::TemporaryFolder temporary_;
};

TEST_F(RecordingIntervals, EveryEventIsInThatOfItsTimeAndInNoOther) {
    RecordedSession session;
    session.record(folder());
    session.run(65);
    session.stop();
    const std::vector<std::string> paths = files();
    ASSERT_THAT(paths, SizeIs(7));
    std::vector<std::string> together;
    for (size_t i = 0; i < paths.size(); i++) {
        const Transcript one = read(paths[i]);
        const uint64_t begin = RecordedSession::begin_ns + i * 10 * second;
        for (const std::string& event : one.events) {
            ASSERT_GE(time_of(event), begin) << event;
            ASSERT_LT(time_of(event), begin + 10 * second) << event;
        }
        const std::vector<std::string> events = comparable(one.events);
        together.insert(together.end(), events.begin(), events.end());
        EXPECT_EQ(index_of(paths[i]).series, (SeriesInfo{7, i + 1}));
    }
    std::vector<std::string> all = comparable(session.all.events);
    all.erase(all.begin()); // the time at which the session began, before it was recorded
    EXPECT_EQ(together, all);
}

TEST_F(RecordingIntervals, EachHasWhatItsEventsNameAndNoMore) {
    RecordedSession session;
    for (uint32_t i = 0; i < 5'000; i++) // what the session had before
        session.stream->stack({"main", fmt::format("before{}", i)});
    session.record(folder());
    session.run(25);
    session.stop();
    for (const std::string& path : files()) {
        const Transcript one = read(path);
        std::map<std::string, size_t> defined;
        for (const std::string& line : one.definitions)
            defined[line.substr(0, line.find(' '))]++;
        EXPECT_EQ(defined["stack"], 5u);
        EXPECT_EQ(defined["location"], 7u) << "main, handle and five parts";
        EXPECT_EQ(defined["frames"], 7u);
        EXPECT_EQ(defined["thread"], 3u);
        EXPECT_EQ(defined["probe"], 2u);
        EXPECT_LT(fs::file_size(path), 8'000u);
    }
}

TEST_F(RecordingIntervals, AnIdThatIsGivenAnewStandsForWhatItDidThen) {
    Transcript all;
    Tee tee(all);
    Recorders recorders(tee, 7);
    tee.on_module(ModuleId{0}, {ModuleKind::file, "/bin/x", ""});
    tee.on_location(LocationId{0}, {ModuleId{0}, 1, false});
    tee.on_location(LocationId{1}, {ModuleId{0}, 2, false});
    ASSERT_TRUE(recorders.record_intervals({folder(), 10 * second, 100}, 0));
    for (uint64_t i = 0; i < 40; i++) {
        tee.on_stack(StackId{0}, std::vector{LocationId{static_cast<uint32_t>(i / 3 % 2)}});
        tee.on_thread(ThreadId{0}, {1, static_cast<uint32_t>(1 + i / 7), "x"});
        tee.on_sample({(i + 1) * second, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {}});
        tee.on_time((i + 1) * second);
    }
    ASSERT_TRUE(recorders.record_intervals({}, 41 * second));
    std::vector<std::string> together;
    for (const std::string& path : files())
        std::ranges::copy(comparable(read(path).events), std::back_inserter(together));
    EXPECT_EQ(together, comparable(all.events));
}

// The folder is the stream again: ids, calls that span two recordings, the account.
TEST_F(RecordingIntervals, TogetherTheyAreTheStream) {
    RecordedSession session;
    const std::string whole = temporary_.path("whole.auger");
    ASSERT_TRUE(session.recorders.begin(whole));
    session.record(folder());
    session.run(45);
    session.stop();
    ASSERT_TRUE(session.recorders.finish());
    auto merged = MergedRecordings::open(std::vector{folder()});
    ASSERT_TRUE(merged) << merged.error().message();
    Transcript together;
    EXPECT_EQ(merged->deliver(together), MergedRecordings::State::end);
    EXPECT_EQ(merged->damage_text(), "");
    const Transcript alone = read(whole);
    EXPECT_EQ(comparable(together.events), comparable(alone.events));
    // Each definition once, though each recording has its own.
    const std::set<std::string> once(together.definitions.begin(), together.definitions.end());
    EXPECT_EQ(once.size(), together.definitions.size());
    // Of the account the last word is the same, apart from what was before.
    const auto last_account = [](const Transcript& of) {
        return *std::find_if(of.lines.rbegin(), of.lines.rend(),
                             [](const std::string& line) { return line.starts_with("ledger"); });
    };
    EXPECT_EQ(last_account(together), last_account(alone));
    // Some calls began in one and ended in another.
    size_t across = 0;
    for (const std::string& event : comparable(alone.events)) {
        if (!event.starts_with("call_end"))
            continue;
        const uint64_t end = time_of(event);
        const uint64_t start = std::stoull(event.substr(event.find("call ", 9) + 5));
        across += (start - RecordedSession::begin_ns) / (10 * second) !=
                  (end - RecordedSession::begin_ns) / (10 * second);
    }
    EXPECT_GT(across, 0u) << "this test needs calls that span two";
}

TEST_F(RecordingIntervals, WhatIsLateGoesToItsInterval) {
    RecordedSession session;
    session.record(folder());
    session.run(10);
    EventSink& sink = session.sink();
    const uint64_t boundary = RecordedSession::begin_ns + 10 * second;
    sink.on_time(boundary + second / 2);
    sink.on_notice(boundary - 1, "late");
    sink.on_time(boundary + 2 * second); // nobody waits any more
    sink.on_notice(boundary - 1, "too late");
    session.now = boundary + 3 * second;
    session.stop();
    const auto has = [&](const Transcript& one, const std::string& text) {
        return std::ranges::any_of(one.events, [&](const std::string& event) {
            return event.starts_with(fmt::format("notice {} {} after", boundary - 1, text));
        });
    };
    const std::vector<std::string> paths = files();
    ASSERT_THAT(paths, SizeIs(2));
    EXPECT_TRUE(has(read(paths[0]), "late"));
    EXPECT_FALSE(has(read(paths[1]), "late"));
    EXPECT_TRUE(has(read(paths[1]), "too late")) << "late, but not lost";
}

TEST_F(RecordingIntervals, NamesAreWaitedFor) {
    Transcript all;
    Tee tee(all);
    Recorders recorders(tee, 7);
    tee.on_module(ModuleId{0}, {ModuleKind::file, "/bin/x", ""});
    tee.on_location(LocationId{0}, {ModuleId{0}, 1, false});
    tee.on_stack(StackId{0}, std::vector{LocationId{0}});
    tee.on_thread(ThreadId{0}, {1, 1, "x"});
    ASSERT_TRUE(recorders.record_intervals({folder(), 10 * second, 100}, 0));
    tee.on_sample({9 * second, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {}});
    tee.on_time(13 * second);
    EXPECT_EQ(recorders.intervals().written, 0u);
    const std::vector<Frame> frames{{"f", "x.c", 1, false}};
    tee.on_frames(LocationId{0}, frames);
    tee.on_time(13 * second + 1);
    EXPECT_EQ(recorders.intervals().written, 1u);
    EXPECT_THAT(read(files()[0]).definitions, testing::Contains("frames 0 [f x.c 1 false]"));
    // But not for ever.
    tee.on_location(LocationId{1}, {ModuleId{0}, 2, false});
    tee.on_stack(StackId{1}, std::vector{LocationId{1}});
    tee.on_sample({19 * second, 1, ThreadId{0}, StackId{1}, SampleKind::cpu, 0, {}});
    tee.on_time(24 * second);
    EXPECT_EQ(recorders.intervals().written, 1u);
    tee.on_time(26 * second);
    EXPECT_EQ(recorders.intervals().written, 2u);
    // What is known of the start is there in the next one.
    tee.on_sample({27 * second, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {}});
    ASSERT_TRUE(recorders.record_intervals({}, 28 * second));
    EXPECT_THAT(read(files()[2]).definitions, testing::Contains("frames 0 [f x.c 1 false]"));
}

TEST_F(RecordingIntervals, TheLatestStay) {
    RecordedSession session;
    session.record(folder(), 10 * second, 3);
    temporary_.file("day/recording_other.auger", "mine");
    session.run(95);
    // Those that are kept, one that may wait for what is late, and the one that goes on.
    EXPECT_LE(files().size(), 1u + 3 + 2);
    session.stop();
    const std::vector<std::string> paths = files();
    ASSERT_THAT(paths, SizeIs(1 + 3)) << "and a file of another name";
    EXPECT_EQ(index_of(paths[2]).series.number, 10u);
    EXPECT_EQ(fs::read_symlink(folder() + "/last_recording.auger"), fs::path(paths[2]).filename());
    const IntervalRecordings report = session.recorders.intervals();
    EXPECT_EQ(report.written, 10u);
    EXPECT_EQ(report.failed, 0u);
    EXPECT_EQ(report.last, time_stamp((1'700'000'000 + 1'000 + 90) * second));
}

TEST_F(RecordingIntervals, IntervalsWithoutAnythingHaveNoRecording) {
    RecordedSession session;
    session.record(folder());
    session.run(5);
    session.now += 100 * second; // the machine slept
    const uint64_t awake = session.now;
    session.sink().on_time(awake);
    session.run(4);
    session.stop();
    const std::vector<std::string> paths = files();
    ASSERT_THAT(paths, SizeIs(2));
    EXPECT_EQ(index_of(paths[1]).series.number, 2u);
    EXPECT_EQ(comparable(read(paths[1]).events).front(), fmt::format("time {}", awake));
}

TEST_F(RecordingIntervals, AFailureIsToldAndTheNextOneIsTried) {
    RecordedSession session;
    session.record(folder());
    session.run(5);
    fs::rename(folder(), temporary_.path("away"));
    session.run(30);
    const auto error = session.recorders.take_error();
    ASSERT_TRUE(error);
    EXPECT_THAT(error->message(), HasSubstr("No such file"));
    // The link to the one that is whole could not be made either, and after that one the same is
    // told anew; but of three that failed not each.
    EXPECT_TRUE(session.recorders.take_error());
    EXPECT_TRUE(session.recorders.take_error());
    EXPECT_FALSE(session.recorders.take_error());
    fs::rename(temporary_.path("away"), folder());
    session.run(10);
    session.stop();
    EXPECT_EQ(session.recorders.intervals().failed, 3u);
    EXPECT_THAT(session.recorders.intervals().first_problem, HasSubstr("No such file"));
    ASSERT_THAT(files(), SizeIs(2));
    EXPECT_EQ(index_of(files()[1]).series.number, 5u);
}

TEST_F(RecordingIntervals, OthersFollowThoseThatGoOn) {
    RecordedSession session;
    session.record(folder());
    session.run(5);
    EXPECT_FALSE(session.recorders.record_intervals({"/proc/none/x", second, 3}, session.now));
    session.run(1); // what went on does
    ASSERT_TRUE(session.recorders.record_intervals({folder(), 20 * second, 9}, session.now));
    session.run(5);
    session.stop();
    ASSERT_THAT(files(), SizeIs(2));
    EXPECT_EQ(index_of(files()[1]).series, (SeriesInfo{7, 2}));
    std::vector<std::string> together;
    for (const std::string& path : files())
        std::ranges::copy(comparable(read(path).events), std::back_inserter(together));
    std::vector<std::string> all = comparable(session.all.events);
    all.erase(all.begin());
    EXPECT_EQ(together, all);
}

// Whatever ends auger, what was written is there.
TEST_F(RecordingIntervals, OneThatGoesOnCanBeOpened) {
    RecordedSession session;
    session.record(folder());
    session.run(14);
    std::string damage;
    const Transcript one = read(files().back(), &damage);
    EXPECT_THAT(damage, HasSubstr("still recording"));
    EXPECT_GT(comparable(one.events).size(), 20u);
    auto merged = MergedRecordings::open(std::vector{folder()});
    ASSERT_TRUE(merged);
    Transcript together;
    merged->deliver(together);
    EXPECT_THAT(merged->damage_text(), HasSubstr("still recording"));
    const std::vector<std::string> all = comparable(session.all.events),
                                   got = comparable(together.events);
    EXPECT_GT(got.size(), all.size() * 9 / 10);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), all.begin() + 1));
    session.stop();
}

} // namespace
} // namespace auger
