// SPDX-License-Identifier: GPL-3.0-or-later
// A recording that is cut, changed or made up is read up to what is wrong with it.
#include "bpf/wire.h"
#include "tests/unit/loader_recording_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <array>

namespace auger {
namespace {

using testing::HasSubstr;

// Every byte of the headers, and of the rest one in seven, which is a place of each kind often
// enough: all of them take half a minute.
size_t next_place(size_t at) {
    return at + (at < 256 ? 1 : 7);
}

TEST_F(LoaderRecording, CutAnywhereItIsReadUpToTheCut) {
    Transcript expected;
    write(path(), 30, expected, gap_of_small);
    const std::string whole = content(path());
    size_t most = 0;
    for (size_t size = 0; size < whole.size(); size = next_place(size)) {
        put(path("cut.rec"), whole.substr(0, size));
        const Reading reading = read(path("cut.rec"));
        ASSERT_NE(reading.refused + reading.damage, "") << size << " bytes of " << whole.size();
        ASSERT_TRUE(is_prefix(reading.transcript, expected)) << size;
        most = std::max(most, reading.transcript.lines.size());
        ASSERT_EQ(reading.refused != "", size < recording::header_size) << size;
    }
    EXPECT_GT(most, 0u) << "one block only: this test needs a recording of several";
}

TEST_F(LoaderRecording, AChangedByteIsNoticed) {
    Transcript expected;
    write(path(), 30, expected, gap_of_small);
    const std::string whole = content(path());
    std::mt19937 random(1);
    for (size_t at = 0; at < whole.size(); at = next_place(at)) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + random() % 255));
        put(path("changed.rec"), changed);
        const Reading reading = read(path("changed.rec"));
        ASSERT_NE(reading.refused + reading.damage, "") << "byte " << at;
        ASSERT_TRUE(is_prefix(reading.transcript, expected)) << "byte " << at;
    }
}

// Made by `auger --record` when format 4 was the newest: six calls of 2 ms, sampled.
TEST_F(LoaderRecording, OfAnOlderFormatIsRead) {
    const std::string old = std::string(AUGER_SOURCE_DIR) + "/tests/unit/recordings/format_4.auger";
    ASSERT_EQ(content(old)[recording::magic.size()], 4);
    const Reading reading = read(old);
    EXPECT_EQ(reading.refused, "");
    EXPECT_EQ(reading.damage, "");
    const auto ends = std::ranges::count_if(reading.transcript.lines, [](const auto& line) {
        return line.starts_with("call_end ") && !line.ends_with(" filtered");
    });
    EXPECT_EQ(ends, 6);
}

TEST_F(LoaderRecording, DamageIsToldWithPlaceAndAmount) {
    auto writer = RecordingWriter::create(path());
    ASSERT_TRUE(writer);
    (*writer)->on_notice(1'000'000'000, "one");
    (*writer)->on_notice(2'500'000'000, "two"); // ends the block
    const uint64_t second_block = (*writer)->bytes();
    (*writer)->on_notice(3'000'000'000, "three");
    ASSERT_TRUE((*writer)->finish());
    std::string bytes = content(path());
    bytes[second_block + recording::block_header_size] ^= 1;
    put(path("changed.rec"), bytes);
    EXPECT_EQ(read(path("changed.rec")).damage,
              "recording " + path("changed.rec") + ": a block's checksum does not match (at byte " +
                  std::to_string(second_block) + "); 1.500 s with 2 events were read");
}

// With right checksums, as an attacker would make them.
TEST_F(LoaderRecording, RandomRecordsNeverDoHarm) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 1000; ++round) {
        Transcript nothing;
        RecordEncoder encoder;
        StreamGenerator generator(static_cast<uint64_t>(round));
        generator.definitions(encoder);
        generator.events(encoder, 20);
        std::string records = encoder.bytes();
        for (int i = 0; i < 3; ++i)
            records[random() % records.size()] = static_cast<char>(random());
        RecordDecoder decoder;
        decoder.start_block(records);
        while (decoder.step(nothing, UINT64_MAX) == RecordDecoder::Step::delivered)
            ;
    }
}

TEST_F(LoaderRecording, IdsThatWereNotDefinedAreRefused) {
    // Each as the first record of its kind: nothing is defined but module, location, thread, spec
    // 0.
    const auto refused = [&](auto put) {
        RecordEncoder encoder;
        encoder.on_module(ModuleId{0}, {});
        encoder.on_location(LocationId{0}, {});
        encoder.on_thread(ThreadId{0}, {});
        encoder.on_spec(SpecId{0}, {});
        put(encoder);
        this->put(path("made.rec"), made_up(encoder.bytes()));
        const Reading reading = read(path("made.rec"));
        return reading.transcript.lines.size() == 4 &&
               reading.damage.find("not valid") != std::string::npos;
    };
    EXPECT_TRUE(refused([](EventSink& s) { s.on_module(ModuleId{2}, {}); }));
    EXPECT_TRUE(refused([](EventSink& s) { s.on_module(ModuleId{0}, {}); }));
    EXPECT_TRUE(refused([](EventSink& s) {
        s.on_location(LocationId{1}, {ModuleId{1}, 0, false});
    }));
    EXPECT_TRUE(refused([](EventSink& s) { s.on_frames(LocationId{1}, {}); }));
    const std::vector<LocationId> beyond{LocationId{0}, LocationId{1}};
    EXPECT_TRUE(refused([&](EventSink& s) { s.on_stack(StackId{0}, beyond); }));
    EXPECT_TRUE(refused([&](EventSink& s) { s.on_stack(StackId{1}, {}); }));
    EXPECT_TRUE(refused([](EventSink& s) { s.on_thread(ThreadId{5}, {}); }));
    EXPECT_TRUE(refused([](EventSink& s) { s.on_spec(SpecId{2}, {}); }));
    EXPECT_TRUE(refused([](EventSink& s) {
        s.on_probe({ProbeId{1}, "x", {SpecId{1}}, {}, false});
    }));
    EXPECT_TRUE(refused([](EventSink& s) { s.on_split({true, ProbeId{9}, {}, false}); }));
    EXPECT_TRUE(refused([](EventSink& s) { s.on_sample({}); })); // there is no stack 0
    EXPECT_TRUE(refused([](EventSink& s) {
        CallEndEvent end{};
        end.call.spec = SpecId{1};
        s.on_call_end(end);
    }));
    EXPECT_TRUE(refused([](EventSink& s) {
        StatsEvent stats{};
        stats.spec = SpecId{1};
        s.on_stats(stats);
    }));
    EXPECT_TRUE(refused([](EventSink& s) {
        StatsEvent stats{};
        stats.buckets = {{WIRE_HIST_BUCKETS, 1}};
        s.on_stats(stats);
    }));
    EXPECT_TRUE(refused([](EventSink& s) {
        ProbeInfo probe{ProbeId{1}, "x", {}, {}, false};
        probe.slow.kind = Threshold::Kind::percentile;
        probe.slow.percentile = 100;
        s.on_probe(probe);
    }));
}

TEST_F(LoaderRecording, TimeDoesNotRunBackwards) {
    RecordEncoder encoder;
    encoder.on_time(1000);
    encoder.on_time(999);
    put(path("made.rec"), made_up(encoder.bytes()));
    const Reading reading = read(path("made.rec"));
    EXPECT_EQ(reading.transcript.lines.size(), 1u);
    EXPECT_THAT(reading.damage, HasSubstr("not valid"));
}

TEST_F(LoaderRecording, HugeSizesTakeNoMemory) {
    std::string head = made_up("x").substr(0, recording::header_size);
    std::string huge;
    ByteWriter out(huge);
    out.fixed32(0);
    out.fixed32(0xffffffff);
    out.fixed32(0xffffffff);
    put(path("huge.rec"), head + huge);
    EXPECT_THAT(read(path("huge.rec")).damage, HasSubstr("sizes"));
    // A block that claims to grow more than zlib can.
    put(path("bomb.rec"), head + block("0123456789", 60 << 20));
    EXPECT_THAT(read(path("bomb.rec")).damage, HasSubstr("sizes"));

    // Within a record: lists and strings beyond the block.
    for (const auto kind : {recording::RecordKind::module, recording::RecordKind::stack,
                            recording::RecordKind::probe, recording::RecordKind::frames}) {
        std::string record;
        ByteWriter fields(record);
        fields.varint(static_cast<uint64_t>(kind));
        fields.varint(0);
        fields.varint(0);
        fields.varint(UINT64_MAX);
        put(path("made.rec"), made_up(record));
        EXPECT_THAT(read(path("made.rec")).damage, HasSubstr("not valid"));
    }
}

} // namespace
} // namespace auger
