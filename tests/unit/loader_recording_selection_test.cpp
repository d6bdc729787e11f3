// SPDX-License-Identifier: GPL-3.0-or-later
// A part of many recordings is read without the rest: by time, by probe, of several machines.
#include "loader/recording/replay_backend.h"
#include "tests/unit/loader_recording_folders.h"
#include "tests/unit/loader_recording_index.h"

#include <gmock/gmock.h>

#include <fstream>

namespace auger {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

RecordedTime before_end(uint64_t ns) {
    return {RecordedTime::Kind::before_end, ns};
}

TEST_F(RecordingSelection, OfADayOnlyTheFilesOfTheRangeAreRead) {
    RecordedSession session;
    session.record(folder());
    session.run(600);
    session.stop();
    const std::vector<std::string> paths = files();
    ASSERT_GE(paths.size(), 60u);
    const TimeRange range{RecordedSession::begin_ns + 301 * second,
                          RecordedSession::begin_ns + 318 * second};
    const Reading part =
        read({folder()}, {wall(boot_ns + range.from_ns), wall(boot_ns + range.to_ns), ""});
    EXPECT_EQ(part.refused + part.damage, "");
    EXPECT_EQ(comparable(part.told.events), comparable(session.all.events, range));
    EXPECT_THAT(part.notes, Contains(HasSubstr(fmt::format("2 of {} files", paths.size()))));
    EXPECT_GE(part.surveyed.first_ns, range.from_ns);
    EXPECT_LE(part.surveyed.last_ns, range.to_ns);
    // Of the others the index and nothing else; of the two their definitions twice.
    uint64_t indices = 0, wanted = 0;
    for (const std::string& path : paths) {
        const RecordingIndex index = index_of(path);
        indices += recording::header_size + fs::file_size(path) - index.end();
        if (index.overlaps(range.from_ns, range.to_ns))
            wanted += 2 * fs::file_size(path);
    }
    EXPECT_EQ(part.bytes_to_open, indices);
    EXPECT_LE(part.bytes, indices + wanted);
    const Reading whole = read({folder()});
    EXPECT_EQ(comparable(whole.told.events).size() + 1, comparable(session.all.events).size());
    EXPECT_GE(whole.bytes, size_of(paths));
}

TEST_F(RecordingSelection, NoEventIsReadTwice) {
    RecordedSession session;
    session.record(folder());
    session.run(120);
    session.stop();
    uint64_t definitions = 0, around = 0;
    for (const std::string& path : files()) {
        const RecordingIndex index = index_of(path);
        for (const RecordingIndex::Block& block : index.blocks)
            definitions += block.holds == RecordingIndex::Holds::definitions ? block.size : 0;
        around += recording::header_size + fs::file_size(path) - index.end();
    }
    const Reading whole = read({folder()});
    // Header and index are read when a file is chosen, surveyed, read, and at its end.
    EXPECT_LE(whole.bytes, size_of(files()) + definitions + 4 * around);
    EXPECT_GE(whole.bytes, size_of(files()) + definitions);
}

TEST_F(RecordingSelection, TheAccountOfAPartIsItsOwn) {
    RecordedSession session;
    session.record(folder());
    session.run(60);
    session.stop();
    const uint64_t from = RecordedSession::begin_ns + 25 * second,
                   to = RecordedSession::begin_ns + 44 * second;
    const Reading part = read({folder()}, {wall(boot_ns + from), wall(boot_ns + to), ""});
    const auto account =
        std::find_if(part.told.lines.rbegin(), part.told.lines.rend(),
                     [](const std::string& line) { return line.starts_with("ledger"); });
    ASSERT_NE(account, part.told.lines.rend());
    uint64_t time = 0, ticks = 0, samples = 0;
    ASSERT_EQ(sscanf(account->c_str(), "ledger %lu %lu %lu", &time, &ticks, &samples), 3);
    const auto seen = static_cast<uint64_t>(
        std::ranges::count_if(part.told.events, [&](const std::string& event) {
            return event.starts_with("sample") && time_of(event) <= time;
        }));
    // The account is told every second: what was before the part is known by the last one before
    // it.
    EXPECT_GE(samples, seen);
    EXPECT_LE(samples, seen + 9);
    EXPECT_EQ(ticks, samples) << "what was lost and filtered was so before";
}

TEST_F(RecordingSelection, ExtremesOfAPartAreItsOwn) {
    Transcript all;
    Tee tee(all);
    Recorders recorders(tee, 7);
    SyntheticStream stream(tee);
    const SpecId f = stream.probe(1, "f");
    ASSERT_TRUE(recorders.record_intervals({folder(), 10 * second, 9}, 0));
    stream.stats(1 * second, f, {5'000, 9'000'000});
    stream.stats(11 * second, f, {70'000});
    stream.stats(12 * second, f, {90'000});
    ASSERT_TRUE(recorders.record_intervals({}, 13 * second));
    const auto extremes = [](const Transcript& told) {
        std::vector<std::pair<uint64_t, uint64_t>> all;
        for (const std::string& line : told.lines) {
            uint64_t min = 0, max = 0;
            if (sscanf(line.c_str(), "stats %*u %*u %*u %*u %*u %*u %*d %*u %lu %lu", &min, &max) ==
                2)
                all.emplace_back(min, max);
        }
        return all;
    };
    const auto whole = extremes(read({folder()}).told);
    ASSERT_THAT(whole, SizeIs(3));
    EXPECT_EQ(whole[2], std::pair(uint64_t{5'000}, uint64_t{9'000'000}));
    const auto second_one = extremes(read({files()[1]}).told);
    ASSERT_THAT(second_one, SizeIs(2));
    EXPECT_NEAR(static_cast<double>(second_one[1].first), 70'000, 1'100);
    EXPECT_NEAR(static_cast<double>(second_one[1].second), 90'000, 1'500);
}

TEST_F(RecordingSelection, TheLastMinutes) {
    RecordedSession session;
    session.record(folder());
    session.run(100);
    // The one that goes on has no index, and the end.
    const Reading part = read({folder()}, {before_end(15 * second), {}, ""});
    EXPECT_EQ(part.refused, "");
    EXPECT_THAT(part.notes, Contains(HasSubstr("it has no index; it is read whole")));
    ASSERT_THAT(comparable(part.told.events), Not(IsEmpty()));
    const uint64_t last = part.span.last_ns;
    for (const std::string& event : comparable(part.told.events))
        ASSERT_GE(time_of(event), last - 15 * second);
    // Of the last moment some may not be written yet.
    const TimeRange before_last{last - 15 * second, last - 1};
    EXPECT_EQ(comparable(part.told.events, before_last),
              comparable(session.all.events, before_last));
}

TEST_F(RecordingSelection, WhatMakesNoSenseIsRefused) {
    RecordedSession session;
    session.record(folder());
    session.run(20);
    session.stop();
    EXPECT_THAT(read({folder()}, {wall(wall_begin + 9 * second), wall(wall_begin), ""}).refused,
                HasSubstr("the range ends before it begins"));
    EXPECT_THAT(read({folder()}, {wall(wall_begin + 900 * second), {}, ""}).refused,
                HasSubstr("nothing was recorded in that time (there is something from 20231114T"));
    EXPECT_THAT(read({folder()}, {{}, {}, "sned"}).refused,
                HasSubstr("nothing happened to probe sned"));
    fs::create_directory(folder("empty"));
    EXPECT_THAT(read({folder("empty")}).refused, HasSubstr("there is no recording (*.auger)"));
    temporary_.file("empty/a.auger", "text");
    EXPECT_THAT(read({folder("empty")}).refused, HasSubstr("is not an auger recording"));
    // Without a clock on the wall.
    auto writer = RecordingWriter::create(folder("old.auger"));
    ASSERT_TRUE(writer);
    (*writer)->on_notice(5 * second, "first");
    (*writer)->on_notice(9 * second, "last");
    ASSERT_TRUE((*writer)->finish());
    EXPECT_THAT(read({folder("old.auger")}, {wall(wall_begin), {}, ""}).refused,
                HasSubstr("does not say what the clock on the wall showed"));
    EXPECT_THAT(comparable(read({folder("old.auger")}, {before_end(second), {}, ""}).told.events),
                testing::ElementsAre("notice 9000000000 last"));
}

TEST_F(RecordingSelection, FilesInWhichNothingHappenedToAProbeAreNotRead) {
    RecordedSession session; // recv is called in the first half of each minute
    session.record(folder());
    session.run(119);
    session.stop();
    ASSERT_THAT(files(), SizeIs(12));
    const Reading part = read({folder()}, {{}, {}, "recv"});
    EXPECT_EQ(part.refused + part.damage, "");
    EXPECT_THAT(part.notes, Contains(HasSubstr("6 of 12 files are read")));
    // What concerns it is all there.
    const auto of_recv = [&](const Transcript& told) {
        std::vector<std::string> lines;
        for (const std::string& line : told.lines)
            if (line.starts_with("stats") && line.substr(line.find(' ', 6)).starts_with(" 1 "))
                lines.push_back(line.substr(0, line.find(' ', 6)));
        return lines;
    };
    EXPECT_GT(of_recv(session.all).size(), 100u);
    EXPECT_EQ(of_recv(part.told), of_recv(session.all));
}

TEST_F(RecordingSelection, WhatIsWrongInAFolderIsToldByNameAndTheRestIsRead) {
    RecordedSession session;
    session.record(folder());
    session.run(60);
    session.stop();
    std::vector<std::string> paths = files();
    const auto spoil = [](const std::string& path, size_t at) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at));
        file.put('\x55');
    };
    temporary_.file("day/text.auger", "this is no recording at all, you see");
    spoil(paths[1], 40);                                    // its first block
    spoil(paths[2], index_of(paths[2]).end() + 30);         // its index
    fs::resize_file(paths[3], fs::file_size(paths[3]) / 2); // cut
    fs::copy_file(paths[4], folder() + "/copy.auger");
    fs::create_symlink(paths[4], folder() + "/link.auger");
    const Reading all = read({folder()});
    EXPECT_EQ(all.refused, "");
    EXPECT_THAT(all.damage, HasSubstr("text.auger: is not an auger recording"));
    EXPECT_THAT(all.damage, HasSubstr(paths[1] + ": a block's checksum does not match"));
    EXPECT_THAT(all.damage, HasSubstr(paths[2] + ": its index is damaged; all else was read"));
    EXPECT_THAT(all.damage, HasSubstr(paths[3] + ": the file ends inside a block"));
    EXPECT_THAT(all.damage, HasSubstr("is in it is in "));
    EXPECT_THAT(all.damage, HasSubstr("copy.auger"));
    EXPECT_THAT(all.damage, Not(HasSubstr("link.auger")));
    EXPECT_THAT(all.damage, Not(HasSubstr(paths[0] + ":")));
    // Once, and all that there is.
    std::vector<std::string> got = comparable(all.told.events), sorted = got;
    std::ranges::sort(sorted);
    EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
    const auto in = [&](size_t file) {
        const uint64_t begin = RecordedSession::begin_ns + file * 10 * second;
        return TimeRange{begin, begin + 10 * second - 1};
    };
    for (const size_t file : {0, 2, 4, 5})
        EXPECT_EQ(comparable(all.told.events, in(file)).size(),
                  comparable(session.all.events, in(file)).size() - (file == 0))
            << file;
    EXPECT_THAT(comparable(all.told.events, in(1)), IsEmpty());

    // A range of them is as true.
    const Reading part =
        read({folder()}, {wall(wall_begin + 21 * second), wall(wall_begin + 29 * second), ""});
    EXPECT_THAT(part.damage, HasSubstr(paths[2] + ": its index is damaged"));
    const TimeRange range{RecordedSession::begin_ns + 21 * second,
                          RecordedSession::begin_ns + 29 * second};
    EXPECT_EQ(comparable(part.told.events), comparable(session.all.events, range));

    // One that goes while others are read is told as well.
    auto merged = MergedRecordings::open(std::vector{folder()});
    ASSERT_TRUE(merged);
    fs::remove(paths[5]);
    Transcript rest;
    merged->deliver(rest);
    EXPECT_THAT(merged->damage_text(), HasSubstr(paths[5] + ": No such file"));
    EXPECT_EQ(comparable(rest.events, in(4)), comparable(all.told.events, in(4)));
}

TEST_F(RecordingSelection, RecordingsOfAMomentBesideThoseOfIntervalsAreNotTwice) {
    RecordedSession session;
    session.recorders.keep_last(std::chrono::seconds(5));
    session.record(folder());
    session.run(25);
    ASSERT_TRUE(session.recorders.write_last(folder() + "/slow.auger"));
    session.run(10);
    session.stop();
    const Reading all = read({folder()});
    EXPECT_THAT(all.damage, HasSubstr("slow.auger: what is in it is in "));
    EXPECT_EQ(comparable(all.told.events).size() + 1, comparable(session.all.events).size());
    // Alone it is what it is.
    EXPECT_EQ(read({folder() + "/slow.auger"}).damage, "");
}

TEST_F(RecordingSelection, SessionsOfAMachineFollowEachOther) {
    for (const uint64_t session_number : {7, 8}) {
        RecordedSession session("web-1", boot_ns + (session_number - 7) * 100 * second,
                                session_number);
        session.record(folder());
        session.run(20);
        session.stop();
    }
    auto merged = MergedRecordings::open(std::vector{folder()});
    ASSERT_TRUE(merged);
    Transcript told;
    merged->deliver(told);
    EXPECT_EQ(merged->damage_text(), "");
    EXPECT_EQ(std::ranges::count_if(told.lines, [](auto& l) { return l.starts_with("machine"); }),
              1);
    EXPECT_GT(merged->span().last_ns - merged->span().first_ns, 119 * second);
    // One probe, in the order of time.
    EXPECT_TRUE(std::ranges::is_sorted(comparable(told.events), {}, time_of));
}

} // namespace
} // namespace auger
