// SPDX-License-Identifier: GPL-3.0-or-later
// A recording's index says where the events of which time are; what it says is not believed.
#include "loader/recording/index_builder.h"
#include "loader/recording/recorded_part.h"
#include "tests/unit/loader_recording_fixture.h"
#include "tests/unit/loader_recording_index.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>

namespace auger {
namespace {

using testing::HasSubstr;
using Holds = RecordingIndex::Holds;

constexpr uint64_t second = 1'000'000'000;

class RecordingIndexTest : public LoaderRecording {
  protected:
    RecordingIndexTest() { write(path(), 400, expected_, 150'000'000); } // half a minute

    struct Part {
        std::vector<std::string> events;
        std::string damage, index_problem;
        uint64_t bytes = 0;
    };
    // What a reader that wants a range makes of a file.
    Part read_part(const std::string& from, const TimeRange& range) {
        Part part;
        auto reader = RecordingReader::open(from);
        EXPECT_TRUE(reader) << reader.error().message();
        part.index_problem = reader->load_index().value_or("");
        reader->select(range);
        Transcript transcript;
        RecordedPart wanted(range);
        wanted.deliver_to(transcript);
        EXPECT_EQ(reader->deliver(wanted), RecordingReader::State::end);
        part.events = transcript.events;
        part.damage = reader->damage_text();
        part.bytes = reader->bytes_read();
        return part;
    }
    // Those of a range, of all: by their time, which stands first, or behind the kind. Of the
    // account only that it is there, since totals are a range's own.
    std::vector<std::string> plain(const std::vector<std::string>& events) const {
        std::vector<std::string> kept;
        for (const std::string& event : events)
            if (!event.starts_with("ledger") && !event.starts_with("stats"))
                kept.push_back(event);
        return kept;
    }
    std::vector<std::string> expected_in(const TimeRange& range) const {
        std::vector<std::string> kept;
        for (const std::string& event : plain(expected_.events)) {
            const size_t at = event.find(' ');
            if (range.contains(std::stoull(event.substr(at + 1))))
                kept.push_back(event);
        }
        return kept;
    }
    // The file with another index, as whole as the first one.
    std::string with_index(const RecordingIndex& index) const {
        const uint64_t end = index_of(path()).end();
        return content(path()).substr(0, end) + block(encode_index(index)) + encode_footer(end);
    }

    Transcript expected_;
};

TEST_F(RecordingIndexTest, SaysWhatIsInEveryBlock) {
    const RecordingIndex index = index_of(path());
    auto file = RecordingFile::open(path());
    ASSERT_TRUE(file);
    RecordDecoder decoder;
    uint64_t offset = recording::header_size, events = 0;
    size_t with_events = 0;
    for (const RecordingIndex::Block& block : index.blocks) {
        ASSERT_EQ(block.offset, offset);
        std::string content;
        uint64_t size = 0;
        ASSERT_EQ(file->read_block(offset, content, size).value_or(""), "");
        ASSERT_EQ(block.size, size);
        offset += size;
        Transcript of_block;
        decoder.start_block(content);
        while (decoder.step(of_block, UINT64_MAX) == RecordDecoder::Step::delivered)
            ;
        EXPECT_EQ(of_block.events.empty(), block.holds != Holds::events);
        EXPECT_EQ(of_block.definitions.empty(), block.holds != Holds::definitions);
        if (block.holds == Holds::events) {
            EXPECT_EQ(decoder.block_span().first_ns, block.first_ns);
            EXPECT_EQ(decoder.block_span().last_ns, block.last_ns);
            with_events++;
        }
        events = decoder.span().events;
    }
    EXPECT_EQ(index.blocks.back().holds, Holds::end);
    EXPECT_GT(with_events, 20u);
    EXPECT_EQ(index.events, events);
    EXPECT_EQ(index.first_ns, decoder.span().first_ns);
    EXPECT_EQ(index.last_ns, decoder.span().last_ns);
}

TEST_F(RecordingIndexTest, ARangeIsAllOfItsEventsAndNoneElse) {
    const RecordingIndex index = index_of(path());
    const uint64_t length = index.last_ns - index.first_ns;
    std::mt19937_64 random(1);
    for (int i = 0; i < 12; i++) {
        const uint64_t from = index.first_ns + random() % length;
        const TimeRange range{from, from + random() % (length / 4)};
        const Part part = read_part(path(), range);
        ASSERT_EQ(part.damage + part.index_problem, "");
        ASSERT_EQ(plain(part.events), expected_in(range)) << i;
        ASSERT_FALSE(part.events.empty());
    }
    // A block's bounds are in it.
    for (size_t i = 0; i < index.blocks.size(); i += 5)
        if (const RecordingIndex::Block& block = index.blocks[i]; block.holds == Holds::events) {
            const TimeRange range{block.last_ns, block.last_ns};
            ASSERT_EQ(plain(read_part(path(), range).events), expected_in(range));
        }
}

TEST_F(RecordingIndexTest, OfARangeOnlyItsBlocksAreRead) {
    const RecordingIndex index = index_of(path());
    const TimeRange range{index.first_ns + 10 * second, index.first_ns + 12 * second};
    uint64_t wanted = 0, definitions = 0;
    for (const RecordingIndex::Block& block : index.blocks) {
        const bool events = block.holds == Holds::events && block.first_ns <= range.to_ns &&
                            block.last_ns >= range.from_ns;
        wanted += events ? block.size : 0;
        definitions +=
            block.holds == Holds::definitions && block.first_ns <= range.to_ns ? block.size : 0;
    }
    ASSERT_GT(wanted, 0u);
    const uint64_t size = content(path()).size();
    const uint64_t around = recording::header_size + size - index.end(); // and the index
    const uint64_t bytes = read_part(path(), range).bytes;
    EXPECT_LE(bytes, wanted + definitions + around);
    EXPECT_GE(bytes, wanted + around);
    EXPECT_LT(bytes, size / 2);
    // Nothing of the time: nothing but the index.
    EXPECT_EQ(read_part(path(), {index.last_ns + 1, UINT64_MAX}).bytes, around);
}

TEST_F(RecordingIndexTest, WithoutOneAllIsReadAndTheRangeIsTheSame) {
    const RecordingIndex index = index_of(path());
    const std::string whole = content(path());
    const TimeRange range{index.first_ns + 10 * second, index.first_ns + 12 * second};
    // As a file that is being written.
    put(path("going_on.rec"), whole.substr(0, index.blocks.back().offset));
    const Part part = read_part(path("going_on.rec"), range);
    EXPECT_EQ(part.index_problem, "it has no index");
    EXPECT_THAT(part.damage, HasSubstr("still recording"));
    EXPECT_EQ(plain(part.events), expected_in(range));
    EXPECT_EQ(part.bytes, index.blocks.back().offset + recording::footer_size);
}

TEST_F(RecordingIndexTest, AChangedIndexIsNotUsed) {
    const RecordingIndex index = index_of(path());
    const std::string whole = content(path());
    const TimeRange range{index.first_ns + 10 * second, index.first_ns + 11 * second};
    std::mt19937 random(1);
    for (size_t at = index.end(); at < whole.size(); at += at < whole.size() - 25 ? 17 : 2) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + random() % 255));
        put(path("changed.rec"), changed);
        const Part part = read_part(path("changed.rec"), range);
        ASSERT_NE(part.index_problem, "") << at;
        ASSERT_EQ(plain(part.events), expected_in(range)) << at;
        ASSERT_THAT(part.damage, HasSubstr("its index is")) << at;
    }
    for (size_t size = index.end(); size < whole.size(); size += 23) {
        put(path("cut.rec"), whole.substr(0, size));
        const Part part = read_part(path("cut.rec"), range);
        ASSERT_NE(part.index_problem, "") << size;
        ASSERT_EQ(plain(part.events), expected_in(range)) << size;
    }
}

// With right checksums, as an attacker would make them.
TEST_F(RecordingIndexTest, OneThatContradictsItselfIsNotUsed) {
    const RecordingIndex good = index_of(path());
    ASSERT_TRUE(parse_index(encode_index(good), good.end()));
    const auto refused = [&](auto change) {
        RecordingIndex index = good;
        change(index);
        return !parse_index(encode_index(index), good.end());
    };
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.first_ns--; }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.last_ns++; }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.timed = false; }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.blocks.pop_back(); }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.blocks.erase(i.blocks.begin()); }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.blocks[3].size++; }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.blocks[3].size = 1; }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.blocks[3].holds = Holds::end; }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.blocks.back().holds = Holds::definitions; }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.blocks.clear(); }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.blocks[1].last_ns = UINT64_MAX; }));
    EXPECT_TRUE(refused([](RecordingIndex& i) { i.blocks[1].first_ns = UINT64_MAX / 2 + 9; }));
    EXPECT_FALSE(parse_index(encode_index(good), good.end() - 1));
    EXPECT_FALSE(parse_index(encode_index(good) + "x", good.end()));
    const std::string bytes = encode_index(good);
    for (size_t size = 0; size < bytes.size(); size++)
        ASSERT_FALSE(parse_index(bytes.substr(0, size), good.end())) << size;
}

TEST_F(RecordingIndexTest, HugeCountsTakeNoMemory) {
    std::string bytes;
    ByteWriter out(bytes);
    out.string("host");
    out.varint(0);
    out.fixed64(1);
    for (const uint64_t field : {1, 0, 0, 0, 0})
        out.varint(field);
    for (const size_t counts_before : {0, 1, 2}) {
        std::string huge = bytes;
        ByteWriter more(huge);
        for (size_t i = 0; i < counts_before; i++)
            more.varint(0);
        more.varint(UINT64_MAX >> 1);
        EXPECT_FALSE(parse_index(huge, 1 << 20));
    }
}

// It says of a block of the range that it holds other times, so that blocks around it are read.
TEST_F(RecordingIndexTest, OneThatDoesNotMatchItsBlocksIsTold) {
    RecordingIndex index = index_of(path());
    std::vector<RecordingIndex::Block*> events;
    for (RecordingIndex::Block& block : index.blocks)
        if (block.holds == Holds::events)
            events.push_back(&block);
    const TimeRange range{events[10]->first_ns, events[14]->last_ns};
    std::swap(events[5]->first_ns, events[12]->first_ns);
    std::swap(events[5]->last_ns, events[12]->last_ns);
    put(path("lies.rec"), with_index(index));
    Part part = read_part(path("lies.rec"), range);
    EXPECT_EQ(part.index_problem, "");
    EXPECT_THAT(part.damage, HasSubstr("its index does not match its blocks"));
    // From there on all is read: what was passed over before is what is missing.
    const std::vector<std::string> all = expected_in(range), got = plain(part.events);
    EXPECT_EQ(got, all);

    // Nor do sizes that add up nevertheless.
    index = index_of(path());
    index.blocks[7].size += 4;
    index.blocks[8].size -= 4;
    put(path("sizes.rec"), with_index(index));
    part = read_part(path("sizes.rec"), {index.first_ns + 1, UINT64_MAX});
    EXPECT_THAT(part.damage, HasSubstr("block"));
}

TEST_F(RecordingIndexTest, ThatOfAnotherRecordingIsTold) {
    Transcript other;
    write(path("other.rec"), 100, other);
    const std::string whole = content(path());
    const RecordingIndex index = index_of(path());
    const std::string foreign = content(path("other.rec"));
    put(path("mixed.rec"),
        whole.substr(0, index.end()) + foreign.substr(index_of(path("other.rec")).end()));
    const Reading reading = read(path("mixed.rec"));
    EXPECT_EQ(reading.transcript.events, expected_.events);
    EXPECT_THAT(reading.damage, HasSubstr("its index is damaged; all else was read"));
}

TEST_F(RecordingIndexTest, NamesProbesThatSomethingHappenedTo) {
    auto writer = RecordingWriter::create(path("probes.rec"));
    ASSERT_TRUE(writer);
    EventSink& sink = **writer;
    const char* texts[] = {"sampled", "ended", "counted", "never"};
    for (uint32_t i = 0; i < 4; i++) {
        sink.on_spec(SpecId{i}, {ProbeId{i + 1}, texts[i], "/bin/x", i, {}});
        sink.on_probe({ProbeId{i + 1}, texts[i], {SpecId{i}}, {}, false});
    }
    sink.on_thread(ThreadId{0}, {1, 1, "x"});
    sink.on_stack(StackId{0}, {});
    const CallKey call{5, 1, SpecId{0}};
    sink.on_sample({10, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {&call, 1}});
    CallEndEvent end{};
    end.time_ns = 11;
    end.call.spec = SpecId{1};
    sink.on_call_end(end);
    StatsEvent stats{};
    stats.time_ns = 12;
    stats.spec = SpecId{3}; // told, but nothing was counted
    sink.on_stats(stats);
    stats.spec = SpecId{2};
    stats.entries = 1;
    sink.on_stats(stats);
    ASSERT_TRUE((*writer)->finish());
    EXPECT_THAT(index_of(path("probes.rec")).probes,
                testing::ElementsAre("counted", "ended", "sampled"));
}

// Definitions come ahead of their events, but what changes does not.
TEST_F(RecordingIndexTest, WhatChangesInABlockEndsIt) {
    Transcript expected;
    auto writer = RecordingWriter::create(path("changes.rec"));
    ASSERT_TRUE(writer);
    for (EventSink* sink :
         {static_cast<EventSink*>(&expected), static_cast<EventSink*>(&**writer)}) {
        sink->on_module(ModuleId{0}, {ModuleKind::file, "/srv/demo", "abcd"});
        for (uint32_t i = 0; i < 3; i++)
            sink->on_location(LocationId{i}, {ModuleId{0}, i, false});
        sink->on_probe({ProbeId{1}, "f", {}, {}, false});
        for (uint32_t i = 0; i < 20; i++) {
            sink->on_stack(StackId{0}, std::vector{LocationId{i % 3}});
            sink->on_thread(ThreadId{0}, {70, 71 + i / 2, "worker"});
            sink->on_sample({10 + i, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {}});
            if (i % 5 == 0)
                sink->on_split({i % 2 == 0, ProbeId{1}, {}, false});
            if (i % 7 == 0)
                sink->on_only({fmt::format("pid {}", i), {}, {}, {}, {}});
        }
    }
    ASSERT_TRUE((*writer)->finish());
    const Reading reading = read(path("changes.rec"));
    EXPECT_EQ(reading.damage, "");
    EXPECT_EQ(reading.transcript.events, expected.events);
}

} // namespace
} // namespace auger
