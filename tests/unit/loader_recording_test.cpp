// SPDX-License-Identifier: GPL-3.0-or-later
// What is written comes back as it was.
#include "bpf/wire.h"
#include "loader/recording/definition_log.h"
#include "loader/recording/flight_recorder.h"
#include "tests/unit/loader_recording_fixture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace auger {
namespace {

using testing::HasSubstr;

// No file grows beyond `bytes` while it lives; the signal that would end us is ignored.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_{};
    sighandler_t handler_;
};

TEST_F(LoaderRecording, EveryEventComesBackAsItWas) {
    Transcript expected;
    write(path(), 5000, expected);
    const Reading reading = read(path());
    EXPECT_EQ(reading.refused, "");
    EXPECT_EQ(reading.damage, "");
    EXPECT_EQ(reading.transcript.definitions, expected.definitions);
    ASSERT_EQ(reading.transcript.events.size(), expected.events.size());
    for (size_t i = 0; i < expected.events.size(); ++i)
        ASSERT_EQ(reading.transcript.events[i], expected.events[i]) << "event " << i;
}

TEST_F(LoaderRecording, IdsOfThreadsAndStacksAreGivenAgain) {
    Transcript expected;
    auto writer = RecordingWriter::create(path());
    ASSERT_TRUE(writer);
    for (EventSink* sink :
         {static_cast<EventSink*>(&expected), static_cast<EventSink*>(&**writer)}) {
        sink->on_machine(MachineId{}, {"host", 1'700'000'000'000'000'000});
        sink->on_module(ModuleId{0}, {ModuleKind::file, "/srv/demo", "abcd"});
        sink->on_location(LocationId{0}, {ModuleId{0}, 0x1000, false});
        for (uint32_t i = 0; i < 3; i++) {
            sink->on_stack(StackId{0}, std::vector(i + 1, LocationId{0}));
            sink->on_thread(ThreadId{0}, {70, 71 + i, "worker"});
            sink->on_sample(
                {1'000'000 * (i + 1), 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {}});
        }
    }
    ASSERT_TRUE((*writer)->finish());
    const Reading reading = read(path());
    EXPECT_EQ(reading.damage, "");
    // Each sample was told when its ids stood for what they do in it.
    EXPECT_EQ(reading.transcript.lines, expected.lines);
}

// Written before recordings had what observing costs: twenty calls of `doze`, 20 ms each.
TEST_F(LoaderRecording, FormatFourIsRead) {
    const Reading reading =
        read(std::string(AUGER_SOURCE_DIR) + "/tests/unit/fixtures/recordings/format-4.auger");
    EXPECT_EQ(reading.refused + reading.damage, "");
    EXPECT_THAT(reading.transcript.lines,
                testing::Contains("probe 1 doze threshold 0 0 0 false 0"));
    EXPECT_THAT(reading.transcript.lines, testing::Contains(testing::StartsWith("ledger ")));
    EXPECT_THAT(reading.transcript.lines,
                testing::Contains(testing::HasSubstr("tiny (24085): exit code 0")));
}

// Written by the auger that knew no marks, gates and values.
TEST_F(LoaderRecording, TheFormatBeforeIsRead) {
    const Reading reading =
        read(std::string(AUGER_SOURCE_DIR) + "/tests/unit/fixtures/recordings/format-2.auger");
    EXPECT_EQ(reading.refused, "");
    EXPECT_EQ(reading.damage, "");
    EXPECT_THAT(reading.transcript.lines,
                testing::ElementsAre(
                    "module 0 0 /srv/demo abcd", "location 0 0 4096 false", "stack 0 0",
                    "thread 0 70 71 worker", "spec 0 1 handle(int) /srv/demo 4096 ret",
                    "probe 1 handle threshold 1 5000000 0 false 0",
                    "split true 1 threshold 2 0 95 true", "time 1000",
                    "sample 2000 10 0 0 0 3 call 1000 1 0",
                    "call_end 6001000 6000000 0 call 1000 1 0 1 false 5+6 0 -",
                    "slow_call 6001000 6000000 0 call 1000 1 0 1 false 5+6 0 - 5000000 0 4 futex",
                    "stats 6002000 0 1 1 0 0 0 6000000 6000000 6000000 700:1 nested unknown",
                    "ledger 6003000 7 1 6 9 99 98.5 11 12 13 true 0 0 0 x=2",
                    "notice 6004000 70 demo: exited", "time 6005000"));
}

TEST_F(LoaderRecording, ABlockIsWrittenEverySecondOfTheStream) {
    auto writer = RecordingWriter::create(path());
    ASSERT_TRUE(writer);
    const uint64_t start = (*writer)->bytes();
    (*writer)->on_notice(1'000'000'000, "first");
    // Time that runs backwards between CPUs is no second.
    (*writer)->on_notice(999'999'000, "second");
    EXPECT_EQ((*writer)->bytes(), start);
    (*writer)->on_time(2'000'000'000);
    EXPECT_GT((*writer)->bytes(), start);

    // What was written is readable while recording goes on.
    const Reading reading = read(path());
    EXPECT_EQ(reading.transcript.lines.size(), 3u);
    EXPECT_THAT(reading.damage, HasSubstr("no end mark"));
}

TEST_F(LoaderRecording, ALaterRecordingBeginsWithAllDefinitions) {
    DefinitionLog log;
    StreamGenerator generator(7);
    generator.definitions(log);
    generator.events(log, 500);
    auto writer = RecordingWriter::create(path());
    ASSERT_TRUE(writer);
    log.replay(**writer);
    Transcript late;
    StreamGenerator same(7);
    Transcript early;
    same.definitions(early);
    same.events(early, 500);
    late = early; // it knows what is named
    late.lines.clear();
    late.definitions.clear();
    late.events.clear();
    generator.events(**writer, 500);
    same.events(late, 500);
    ASSERT_TRUE((*writer)->finish());

    const Reading reading = read(path());
    EXPECT_EQ(reading.damage, ""); // nothing was used that the log had not defined
    ASSERT_GT(reading.transcript.lines.size(), late.lines.size());
    EXPECT_EQ(reading.transcript.events.size(), late.events.size());
    EXPECT_TRUE(std::equal(late.definitions.rbegin(), late.definitions.rend(),
                           reading.transcript.definitions.rbegin()));
    // All definitions that came before are there, but of probes, split and only the last state.
    std::vector<std::string> wanted, got;
    for (const std::string& line : early.lines)
        for (const char* kind :
             {"module", "location", "frames", "stack ", "thread", "spec ", "label "})
            if (line.starts_with(kind))
                wanted.push_back(line);
    got.assign(reading.transcript.definitions.begin(),
               reading.transcript.definitions.end() -
                   static_cast<ptrdiff_t>(late.definitions.size()));
    std::string last_split, last_only;
    for (const std::string& line : early.lines) {
        if (line.starts_with("split"))
            last_split = line;
        if (line.starts_with("only"))
            last_only = line;
    }
    EXPECT_EQ(got[got.size() - 2], last_split);
    EXPECT_EQ(got.back(), last_only);
    std::erase_if(got, [](const std::string& line) {
        return line.starts_with("probe") || line.starts_with("split") || line.starts_with("only");
    });
    // That each is there before it is used was seen already.
    std::ranges::sort(got);
    std::ranges::sort(wanted);
    EXPECT_EQ(got, wanted);
}

std::vector<std::string> events_of(const Transcript& transcript) {
    std::vector<std::string> events;
    for (const std::string& line : transcript.lines) {
        const bool defines =
            std::ranges::any_of(std::array{"module", "location", "frames", "stack ", "thread",
                                           "spec ", "label ", "probe", "split", "only"},
                                [&](const char* kind) { return line.starts_with(kind); });
        if (!defines)
            events.push_back(line);
    }
    return events;
}

// What a trigger writes: the last seconds, all of them, in order, and all that they refer to.
TEST_F(LoaderRecording, TheFlightRecorderHasTheLastSeconds) {
    constexpr uint64_t span = 3'000'000'000;
    DefinitionLog log;
    FlightRecorder flight(span);
    Transcript all;
    for (EventSink* sink : {static_cast<EventSink*>(&log), static_cast<EventSink*>(&flight),
                            static_cast<EventSink*>(&all)}) {
        StreamGenerator generator(7);
        generator.definitions(*sink);
        generator.events(*sink, 3'000); // half a minute
    }
    auto writer = RecordingWriter::create(path());
    ASSERT_TRUE(writer);
    log.replay(**writer);
    flight.write(**writer);
    ASSERT_TRUE((*writer)->finish());
    const Reading reading = read(path());
    EXPECT_EQ(reading.damage, "");
    const auto kept = events_of(reading.transcript), whole = events_of(all);
    ASSERT_LT(kept.size(), whole.size() / 3) << "what is older stays";
    EXPECT_TRUE(std::equal(kept.rbegin(), kept.rend(), whole.rbegin()));
    EXPECT_GE(reading.span.last_ns - reading.span.first_ns, span);
    EXPECT_LE(reading.span.last_ns - reading.span.first_ns, span + 2 * recording::block_ns);
}

TEST_F(LoaderRecording, TheFlightRecordersMemoryIsBounded) {
    FlightRecorder flight(UINT64_MAX / 2);
    const std::string long_text(recording::max_string, 'x');
    for (uint64_t i = 1; i <= 3 * FlightRecorder::most_bytes / long_text.size(); i++)
        flight.on_notice(i, long_text);
    EXPECT_LE(flight.bytes(), FlightRecorder::most_bytes + 2 * recording::block_bytes);
    EXPECT_GE(flight.bytes(), FlightRecorder::most_bytes / 2);
}

TEST_F(LoaderRecording, TheEndMarkCountsTheEvents) {
    RecordEncoder encoder;
    encoder.on_notice(1, "one");
    encoder.put_end(2);
    put(path("made.rec"), made_up(encoder.bytes()));
    EXPECT_THAT(read(path("made.rec")).damage, HasSubstr("end mark"));
}

TEST_F(LoaderRecording, WhatIsNoRecordingIsRefused) {
    put(path("empty"), "");
    EXPECT_THAT(read(path("empty")).refused, HasSubstr("is empty"));
    put(path("text"), "hello, this is a text and no recording at all\n");
    EXPECT_THAT(read(path("text")).refused, HasSubstr("is not an auger recording"));
    EXPECT_THAT(read(folder_).refused, HasSubstr("not a regular file"));
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    EXPECT_THAT(read(path("fifo")).refused, HasSubstr("not a regular file"));
    EXPECT_THAT(read("/dev/zero").refused, HasSubstr("not a regular file"));
    EXPECT_THAT(read(path("absent")).refused, HasSubstr("No such file"));

    std::string newer(recording::magic);
    ByteWriter(newer).fixed32(recording::version + 1);
    ByteWriter(newer).fixed32(static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(newer.data()), static_cast<uInt>(newer.size()))));
    put(path("newer"), newer);
    EXPECT_THAT(read(path("newer")).refused,
                HasSubstr(fmt::format("has format {}", recording::version + 1)));
}

TEST_F(LoaderRecording, AFullDiskIsToldOnceAndEndsNothing) {
    RecordingWriter writer(UniqueFd(open("/dev/full", O_WRONLY | O_CLOEXEC)), "/dev/full");
    auto error = writer.take_error();
    ASSERT_TRUE(error);
    EXPECT_THAT(error->message(), HasSubstr("No space left on device"));
    writer.on_notice(1, "lost");
    writer.on_time(5'000'000'000);
    EXPECT_FALSE(writer.take_error());
    EXPECT_EQ(writer.lost_events(), 1u);
    EXPECT_TRUE(writer.finish());
}

// The disk fills up in the middle: what is there stays readable, without half a block behind it.
TEST_F(LoaderRecording, WhatFitsBeforeTheDiskIsFullStaysReadable) {
    const FileSizeLimit limit(100'000);
    auto writer = RecordingWriter::create(path());
    ASSERT_TRUE(writer);
    StreamGenerator generator(5);
    generator.definitions(**writer);
    generator.events(**writer, 4000);
    const auto finished = (*writer)->finish();
    ASSERT_FALSE(finished);
    EXPECT_THAT(finished.error().message(), HasSubstr("File too large"));
    EXPECT_GT((*writer)->lost_events(), 0u);
    EXPECT_GT((*writer)->events(), 0u);
    const Reading reading = read(path());
    EXPECT_EQ(reading.span.events, (*writer)->events());
    EXPECT_THAT(reading.damage, HasSubstr("no end mark"));
}

TEST_F(LoaderRecording, AFileThatIsNoRecordingHasNoName) {
    const FileSizeLimit limit(3);
    EXPECT_FALSE(RecordingWriter::create(path()));
    EXPECT_FALSE(std::filesystem::exists(path()));
}

} // namespace
} // namespace auger
