// SPDX-License-Identifier: GPL-3.0-or-later
// Intervals that are more than a receiver takes at once: each sample is in one of the parts.
#include "tests/unit/repl_fake_receiver.h"

#include "repl/services/interval_parts.h"
#include "tests/support/gunzip.h"

#include <gmock/gmock.h>
#include <protozero/pbf_reader.hpp>

#include <filesystem>
#include <map>
#include <numeric>
#include <set>

namespace auger {
namespace {

using std::chrono::seconds;
using testing::ElementsAre, testing::IsEmpty, testing::SizeIs;
using Count = ShippingStatus::Count;

// What a receiver sees in profile.proto: samples' own counts, and when they were.
struct ReadPprof {
    explicit ReadPprof(const std::string& gzipped) {
        const std::string bytes = test::gunzip(gzipped);
        size = bytes.size();
        protozero::pbf_reader profile(bytes);
        while (profile.next())
            switch (profile.tag()) {
            case 2: {
                protozero::pbf_reader sample(profile.get_message());
                if (sample.next(2)) {
                    const auto values = sample.get_packed_int64();
                    counts.push_back(static_cast<uint64_t>(*values.begin()));
                }
                break;
            }
            case 6:
                strings.insert(profile.get_string());
                break;
            default:
                profile.skip();
            }
    }
    uint64_t samples() const { return std::accumulate(counts.begin(), counts.end(), uint64_t{}); }

    size_t size;
    std::vector<uint64_t> counts;
    std::set<std::string> strings;
};

class ShippingParts : public ShippingTest {
  protected:
    ShippingParts() {
        protocol.most = {.entries = 1, .bytes = UINT64_MAX};
        settings.protocol = &protocol;
    }
    // By the functions f1, f2, ... of pass().
    std::vector<std::set<std::string>> functions() const {
        std::vector<std::set<std::string>> all;
        for (const FakePoster::Sent& sent : log.sent) {
            std::set<std::string> of_part;
            for (const std::string& text : ReadPprof(sent.body).strings)
                if (text.size() > 1 && text.front() == 'f' && isdigit(text[1]))
                    of_part.insert(text);
            all.push_back(of_part);
        }
        return all;
    }

    ReceiverProtocol protocol = *find_receiver_protocol("pyroscope-ingest");
    Shipping settings = shipping();
};

TEST_F(ShippingParts, AreHalvesOfItsTimeUntilTheyFit) {
    ASSERT_TRUE(shipper->set(settings));
    pass(seconds(60)); // f1 after 7.5 s, f2 after 22.5 s, and so on
    ASSERT_TRUE(written(4));
    const std::set<std::string> f1{"f1"}, f2{"f2"}, f3{"f3"}, f4{"f4"};
    EXPECT_THAT(functions(), ElementsAre(f1, f2, f3, f4));
    EXPECT_EQ(shipper->status().shipped, (Count{4, 4}));
    std::vector<std::string> times;
    for (const FakePoster::Sent& sent : log.sent)
        times.push_back(sent.post.url.substr(sent.post.url.find("&from="), 33));
    const uint64_t began = start_utc_ns / second_ns + backend.clock() / second_ns - 60;
    std::vector<std::string> expected;
    for (uint64_t i = 0; i < 4; i++)
        expected.push_back(fmt::format("&from={}&until={}", began + 15 * i, began + 15 * (i + 1)));
    EXPECT_EQ(times, expected);
}

// Where there is little, parts are long.
TEST_F(ShippingParts, AreNoSmallerThanTheyMustBe) {
    protocol.most.entries = 2;
    ASSERT_TRUE(shipper->set(settings));
    pass(seconds(60));
    ASSERT_TRUE(written(2));
    EXPECT_THAT(functions(), ElementsAre(SizeIs(2), SizeIs(2)));
    protocol.most.entries = 4;
    pass(seconds(60));
    ASSERT_TRUE(written(3));
    EXPECT_THAT(functions().back(), SizeIs(4));
}

TEST_F(ShippingParts, AreOfBytesToo) {
    protocol.most = {.entries = UINT64_MAX, .bytes = UINT64_MAX};
    ASSERT_TRUE(shipper->set(settings));
    pass(seconds(60));
    ASSERT_TRUE(written(1));
    protocol.most.bytes = ReadPprof(log.sent[0].body).size;
    pass(seconds(60));
    ASSERT_TRUE(written(2)) << "the same again, which is no more";
    log.sent.clear();
    protocol.most.bytes--;
    pass(seconds(60));
    ASSERT_TRUE(written(4));
    EXPECT_THAT(functions(), ElementsAre(SizeIs(2), SizeIs(2)));
    EXPECT_LE(ReadPprof(log.sent[0].body).size, protocol.most.bytes);
}

// All within less than a part's least time: the receiver says whether it takes that.
TEST_F(ShippingParts, AreNotTornAsunder) {
    ASSERT_TRUE(shipper->set(settings));
    for (uint64_t i = 1; i <= 8; i++)
        stream.sample(backend.clock() + second_ns / 4 + i, 1,
                      stream.stack({"main", "f" + std::to_string(i)}));
    log.reply = [](const HttpPost&) { return HttpOutcome{413, 0, 0, "too large"}; };
    pass(seconds(60), 0);
    ASSERT_TRUE(written(1));
    EXPECT_THAT(functions(), ElementsAre(SizeIs(8)));
    EXPECT_EQ(shipper->status().refused, (Count{1, 8}));
}

// As disks fill up: what is lost is lost as a whole, so that nothing of it comes later.
TEST_F(ShippingParts, AreWrittenTogetherOrNotAtAll) {
    settings.service = "shop";
    ASSERT_TRUE(shipper->set(settings));
    // A folder where the third part's file belongs.
    const uint64_t begin_ms = (start_utc_ns + backend.clock()) / millisecond_ns;
    std::filesystem::create_directory(
        fmt::format("{}/interval_3_{}_{}_15000_1_shop.pyroscope-ingest", settings.spool,
                    begin_ms + 60'000, begin_ms + 30'000));
    pass(seconds(60));
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (shipper->status().unwritten == 0 && std::chrono::steady_clock::now() < limit) {
        (void)backend.poll(std::chrono::nanoseconds(1), -1);
        work();
    }
    EXPECT_EQ(shipper->status().unwritten, 1u);
    EXPECT_EQ(shipper->status().written, Count{});
    for (const auto& file : std::filesystem::directory_iterator(settings.spool))
        EXPECT_TRUE(file.is_directory()) << file.path();
}

// The limits as they are, with what a host of many CPUs has in an interval.
TEST(ShippingLimits, EachPartIsWhatReceiversTake) {
    Model busy{100'000, 100};
    SyntheticStream stream{busy};
    constexpr uint64_t samples = 40'000, begin = second_ns, end = 11 * second_ns;
    for (uint64_t i = 1; i <= samples; i++)
        stream.sample(begin + i * ((end - begin) / samples), 1,
                      stream.stack({"main", "f" + std::to_string(i % 20'000)}));
    ExportQuery query;
    query.threads = false;
    const auto parts =
        interval_parts(*find_receiver_protocol("pyroscope-ingest"), busy, query, begin, end);
    ASSERT_THAT(parts, SizeIs(4)) << "each half has all of the 20,000 stacks";
    uint64_t sum = 0, at = begin;
    for (const IntervalPart& part : parts) {
        EXPECT_EQ(part.begin_ns, at);
        at = part.end_ns;
        const ReadPprof read(part.body);
        EXPECT_LE(read.counts.size(), 16'000u);
        EXPECT_LE(read.size, 4u << 20);
        EXPECT_EQ(read.samples(), part.samples);
        sum += read.samples();
    }
    EXPECT_EQ(at, end);
    EXPECT_EQ(sum, samples);
    EXPECT_THAT(interval_parts(*find_receiver_protocol("parca"), busy, query, begin, end),
                SizeIs(1));
}

} // namespace
} // namespace auger
