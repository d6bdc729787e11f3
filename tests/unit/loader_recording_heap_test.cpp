// SPDX-License-Identifier: GPL-3.0-or-later
// Several machines' recordings are one stream, read once, in memory that does not grow.
#include "tests/unit/loader_recording_folders.h"
#include "tests/unit/loader_recording_index.h"

#include <gmock/gmock.h>

#include <iterator>

namespace auger {
namespace {

class RecordingHeap : public RecordingSelection {
  protected:
    // So many machines, a second apart, each in a folder of its own.
    std::vector<std::string> machines(size_t count, uint64_t seconds) {
        std::vector<std::string> folders;
        for (size_t i = 0; i < count; i++) {
            const std::string name = fmt::format("web-{}", i);
            RecordedSession session(name, boot_ns + i * second, 100 + i);
            session.record(folder(name));
            session.run(seconds);
            session.stop();
            folders.push_back(folder(name));
            events_ += comparable(session.all.events).size() - 1;
        }
        return folders;
    }
    size_t events_ = 0;
};

TEST_F(RecordingHeap, ManyMachinesAreOneStreamInTheOrderOfTime) {
    const std::vector<std::string> folders = machines(9, 40);
    const Reading all = read(folders);
    EXPECT_EQ(all.damage, "");
    const std::vector<std::string> events = comparable(all.told.events);
    EXPECT_EQ(events.size(), events_);
    EXPECT_TRUE(std::ranges::is_sorted(events, {}, time_of));
    EXPECT_EQ(
        std::ranges::count_if(all.told.lines, [](auto& l) { return l.starts_with("machine"); }), 9);
    // A range of all of them.
    const TimeRange range{RecordedSession::begin_ns + 15 * second,
                          RecordedSession::begin_ns + 22 * second};
    const Reading part =
        read(folders, {wall(boot_ns + range.from_ns), wall(boot_ns + range.to_ns), ""});
    EXPECT_EQ(comparable(part.told.events).size(), comparable(all.told.events, range).size());
    EXPECT_LT(part.bytes, all.bytes / 2);
}

TEST_F(RecordingHeap, EveryBlockOfEventsIsReadOnceHoweverManyMachines) {
    const std::vector<std::string> folders = machines(5, 40);
    std::vector<std::string> paths;
    uint64_t definitions = 0, around = 0;
    for (size_t i = 0; i < 5; i++)
        for (const std::string& path : files(fmt::format("web-{}", i))) {
            paths.push_back(path);
            const RecordingIndex index = index_of(path);
            for (const RecordingIndex::Block& block : index.blocks)
                definitions += block.holds == RecordingIndex::Holds::definitions ? block.size : 0;
            around += recording::header_size + fs::file_size(path) - index.end();
        }
    const uint64_t bytes = read(folders).bytes;
    EXPECT_LE(bytes, size_of(paths) + definitions + 4 * around);
    EXPECT_GE(bytes, size_of(paths));
}

// Files that are open, and what is remembered of them, are the same of an hour as of a minute.
TEST_F(RecordingHeap, MemoryDoesNotGrowWithTheLength) {
    const std::vector<std::string> folders = machines(3, 300);
    auto merged = MergedRecordings::open(folders);
    ASSERT_TRUE(merged);
    Transcript told;
    const auto open_files = [] {
        return static_cast<size_t>(
            std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
    };
    const size_t before = open_files();
    size_t most_open = 0, most_early = 0, most_late = 0;
    for (uint64_t at = 0; merged->deliver(told, RecordedSession::begin_ns + at * second) ==
                          MergedRecordings::State::more;
         at += 5) {
        most_open = std::max(most_open, open_files());
        size_t& most = at < 60 ? most_early : most_late;
        most = std::max(most, merged->remembered());
        told.events.clear();
        told.lines.clear();
    }
    EXPECT_LE(most_open, before + 3);
    EXPECT_GT(most_early, 0u);
    EXPECT_LE(most_late, most_early);
}

// What came and went is forgotten.
TEST_F(RecordingHeap, WhatIsNoLongerInUseIsForgotten) {
    RecordedSession session;
    session.record(folder());
    for (uint32_t i = 0; i < 30; i++) {
        for (uint32_t k = 0; k < 50; k++)
            session.stream->sample(session.now, 1'000 + 50 * i + k,
                                   session.stream->stack({"main", fmt::format("f{}_{}", i, k)}));
        session.run(10);
    }
    session.stop();
    auto merged = MergedRecordings::open(std::vector{folder()});
    ASSERT_TRUE(merged);
    Transcript told;
    size_t most = 0;
    for (uint64_t at = 0; merged->deliver(told, RecordedSession::begin_ns + at * second) ==
                          MergedRecordings::State::more;
         at += 5)
        most = std::max(most, merged->remembered());
    EXPECT_LT(most, 1'000u) << "of 4,500 stacks, locations and threads";
    EXPECT_EQ(comparable(told.events).size() + 1, comparable(session.all.events).size());
}

// A recording whose clock leaps does not hold up the others, and loses nothing.
TEST_F(RecordingHeap, ALeapOfOneMachineIsItsOwn) {
    const std::vector<std::string> folders = machines(2, 20);
    auto writer = RecordingWriter::create(folder("leap.auger"));
    ASSERT_TRUE(writer);
    EventSink& sink = **writer;
    sink.on_machine(MachineId{}, {"leap", boot_ns});
    sink.on_notice(RecordedSession::begin_ns + 5 * second, "one");
    sink.on_notice(RecordedSession::begin_ns + 5'000 * second, "far");
    sink.on_notice(RecordedSession::begin_ns + 6 * second, "two");
    ASSERT_TRUE((*writer)->finish());
    std::vector<std::string> paths = folders;
    paths.push_back(folder("leap.auger"));
    const Reading all = read(paths);
    EXPECT_EQ(all.damage, "");
    EXPECT_EQ(comparable(all.told.events).size(), events_ + 3);
    std::vector<std::string> others;
    for (const std::string& event : comparable(all.told.events))
        if (event.find("leap: ") == std::string::npos)
            others.push_back(event);
    EXPECT_TRUE(std::ranges::is_sorted(others, {}, time_of));
}

} // namespace
} // namespace auger
