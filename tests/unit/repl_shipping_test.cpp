// SPDX-License-Identifier: GPL-3.0-or-later
// Shipping, in a fake backend's time and to a receiver that the test plays: nothing is lost while
// it is away, nothing is sent twice, what waits is bounded, and the account adds up.
#include "tests/support/gunzip.h"
#include "tests/unit/repl_fake_receiver.h"

#include "repl/services/wall_clock.h"
#include "views/shipping_text.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <regex>

namespace auger {
namespace {

using std::chrono::hours, std::chrono::minutes, std::chrono::nanoseconds, std::chrono::seconds;
using testing::Contains, testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Count = ShippingStatus::Count;

// Of the URL: when the interval began, s since 1970.
uint64_t from_of(const HttpPost& post) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(post.url, match, std::regex("&from=([0-9]+)"))) << post.url;
    return std::stoull(match[1]);
}

// Of an interval the wall clock's time is known when it begins; here no machine says what it is.
TEST_F(ShippingTest, TimesAreThoseOfTheClockAfterTheMachineHasSlept) {
    ASSERT_TRUE(shipper->set(shipping()));
    pass(seconds(60));
    ASSERT_TRUE(written(1));
    pass(seconds(30));
    slept_ns = ns(hours(2));
    pass(seconds(30)); // the second one began before
    ASSERT_TRUE(written(2));
    pass(seconds(60));
    ASSERT_TRUE(written(3));
    slept_ns = ns(hours(1)); // set back
    for (size_t i = 4; i <= 5; i++) {
        pass(seconds(60));
        ASSERT_TRUE(written(i));
    }
    work();
    std::vector<uint64_t> from;
    for (const FakePoster::Sent& sent : log.sent)
        from.push_back(from_of(sent.post));
    ASSERT_EQ(from.size(), 5u);
    EXPECT_EQ(from[1], from[0] + 60);
    EXPECT_EQ(from[2], from[1] + 60 + 2 * 3'600);
    EXPECT_EQ(from[3], from[2] + 60);
    EXPECT_EQ(from[4], from[3] + 60) << "names of files go back";
}

// As what is shown and exported has it.
TEST_F(ShippingTest, TheModelFollowsTheWallClock) {
    model.on_machine(MachineId{}, {"m", start_utc_ns});
    const WallClock clock([this] { return start_utc_ns + slept_ns + backend.clock(); });
    const uint64_t early = backend.clock();
    pass(seconds(60));
    slept_ns = WallClock::least_step_ns / 2;
    clock.follow(model, backend);
    EXPECT_EQ(model.wall_ns(backend.clock()), start_utc_ns + backend.clock());
    slept_ns = ns(hours(2));
    clock.follow(model, backend);
    pass(seconds(60));
    EXPECT_EQ(model.wall_ns(backend.clock()), start_utc_ns + slept_ns + backend.clock());
    EXPECT_EQ(model.wall_ns(early), start_utc_ns + early);
    // Nor does a machine that is told of anew bring the former clock back.
    model.on_machine(MachineId{}, {"m", start_utc_ns});
    EXPECT_EQ(model.wall_ns(backend.clock()), start_utc_ns + slept_ns + backend.clock());
    // A recording is of another day.
    backend.is_replay = true;
    slept_ns = ns(hours(5));
    clock.follow(model, backend);
    EXPECT_EQ(model.wall_ns(backend.clock()), start_utc_ns + ns(hours(2)) + backend.clock());
}

TEST_F(ShippingTest, ADayOfOutagesLosesNothing) {
    constexpr size_t day = 24 * 60;
    // What the receiver does at each hour of the day.
    const uint64_t began = backend.clock();
    log.reply = [&](const HttpPost&) -> HttpOutcome {
        const uint64_t minute = (backend.clock() - began) / ns(minutes(1)), hour = minute / 60;
        if (hour % 6 == 1)
            return {.text = "connection refused"};
        if (hour % 6 == 3)
            return {503, minute % 7 == 0 ? 200u : 0u, 0, "busy"};
        if (hour % 6 == 4 && minute % 2)
            return {429, 1};
        return {200};
    };
    ASSERT_TRUE(shipper->set(shipping()));
    size_t longest = 0;
    for (size_t i = 1; i <= day; i++) {
        pass(seconds(60), 40);
        ASSERT_TRUE(written(i)) << i;
        longest = std::max<size_t>(longest, shipper->status().waiting.intervals);
    }
    pass(hours(1), 0); // the last ones' turn
    work();
    const ShippingStatus status = shipper->status();
    EXPECT_GE(longest, 60u) << "nothing had to wait";
    EXPECT_EQ(status.waiting, Count{});
    EXPECT_EQ(status.shipped, status.written);
    EXPECT_EQ(status.shipped, (Count{day, day * 40}));
    std::vector<uint64_t> taken;
    size_t refused = 0;
    for (const FakePoster::Sent& sent : log.sent) {
        refused += sent.outcome.status != 200;
        if (sent.outcome.status == 200)
            taken.push_back(from_of(sent.post));
    }
    ASSERT_EQ(taken.size(), day);
    for (size_t i = 1; i < day; i++)
        ASSERT_EQ(taken[i], taken[i - 1] + 60) << "not once each, in their order";
    // Eight bad hours; 429 comes to each other attempt of four more.
    EXPECT_GT(refused, 8 * 60 * 0.8);
    EXPECT_LT(refused, 8 * 60 * 1.3 + 4 * 60 * 2);
    EXPECT_TRUE(shipper->outcome());
    const auto news = shipper->take_news();
    EXPECT_THAT(news, Contains(HasSubstr("connection refused")));
    EXPECT_THAT(news, Contains(HasSubstr("takes intervals again")));
    EXPECT_THAT(news, SizeIs(testing::Le(day / 4))) << "the same is said once in a row";
}

TEST_F(ShippingTest, APartialSuccessIsOneAndIsTold) {
    log.reply = [](const HttpPost& post) {
        EXPECT_TRUE(post.otlp);
        return HttpOutcome{200, 0, 3, "too many attributes"};
    };
    ASSERT_TRUE(shipper->set(shipping("otlp")));
    write(2);
    pass(hours(1), 0);
    EXPECT_THAT(log.sent, SizeIs(2)) << "sent again";
    EXPECT_EQ(shipper->status().shipped.intervals, 2u);
    EXPECT_EQ(shipper->status().rejected, 6u);
    EXPECT_THAT(shipper->take_news(),
                ElementsAre(HasSubstr("left 3 out of an interval: too many attributes")));
}

// Their samples are gone: that is told where the others are counted.
TEST_F(ShippingTest, IntervalsThatCannotBeWrittenAreCounted) {
    ASSERT_TRUE(shipper->set(shipping()));
    write(1);
    std::filesystem::rename(folder.path("spool"), folder.path("elsewhere"));
    for (const uint64_t lost : {1, 2}) {
        pass(minutes(1));
        const auto limit = std::chrono::steady_clock::now() + minutes(1);
        while (shipper->status().unwritten < lost && std::chrono::steady_clock::now() < limit)
            work();
    }
    const ShippingStatus status = shipper->status();
    EXPECT_EQ(status.shipped.intervals, 1u);
    EXPECT_EQ(status.unwritten, 2u);
    EXPECT_TRUE(status.adds_up());
    EXPECT_THAT(shipping_notes(status), ElementsAre(HasSubstr("2 intervals could not be written")));
}

// The store has room for 10,000.
TEST_F(ShippingTest, SamplesThatLeaveTheStoreTooSoonAreCounted) {
    ASSERT_TRUE(shipper->set(shipping()));
    pass(seconds(60), 12'000);
    ASSERT_TRUE(written(1));
    EXPECT_EQ(shipper->status().written, (Count{1, 10'000}));
    EXPECT_EQ(shipper->status().evicted, 2'000u);
    EXPECT_THAT(test::gunzip(log.sent[0].body), HasSubstr("gone: 2000 samples of this time"));
    EXPECT_THAT(shipping_notes(shipper->status()),
                ElementsAre(HasSubstr("2,000 samples had left")));
    // For these others go, which have been written.
    pass(seconds(60), 9'000);
    ASSERT_TRUE(written(2));
    EXPECT_EQ(shipper->status().written, (Count{2, 19'000}));
    EXPECT_EQ(shipper->status().evicted, 2'000u);
    EXPECT_THAT(test::gunzip(log.sent[1].body), testing::Not(HasSubstr("gone:")));
    ASSERT_TRUE(shipper->set({}));
    pass(seconds(60), 11'000);
    EXPECT_EQ(shipper->status().evicted, 0u) << "nobody wants them";
}

// However long auger itself had no CPU.
TEST_F(ShippingTest, AnIntervalWaitsForSamplesThatAreStillToCome) {
    ASSERT_TRUE(shipper->set(shipping()));
    const uint64_t end = backend.clock() + ns(seconds(60));
    backend.has_samples_before = backend.clock();
    pass(seconds(90));
    pass(seconds(20), 0);
    EXPECT_EQ(shipper->status().written, Count{});
    stream.sample(end - 2, 1, stream.stack({"main"}));
    backend.has_samples_before = UINT64_MAX;
    ASSERT_TRUE(written(1));
    EXPECT_EQ(shipper->status().written, (Count{1, 4}));
    EXPECT_EQ(shipper->status().late, 0u);
}

TEST_F(ShippingTest, SamplesThatComeTooLateAreCounted) {
    const uint64_t begin = backend.clock();
    stream.sample(begin, 1, stream.stack({"main"}));
    ASSERT_TRUE(shipper->set(shipping()));
    write(2);
    stream.sample(begin, 1, stream.stack({"main"})); // before there was an interval
    EXPECT_EQ(shipper->status().late, 0u);
    for (const uint64_t time : {begin + 1, begin + ns(seconds(60)), begin + ns(seconds(90))})
        stream.sample(time, 1, stream.stack({"main"}));
    EXPECT_EQ(shipper->status().late, 3u);
    EXPECT_EQ(shipper->status().written, (Count{2, 8}));
    EXPECT_THAT(shipping_notes(shipper->status()), ElementsAre(HasSubstr("3 samples came after")));
}

TEST(HttpPostTime, GrowsWithTheBody) {
    EXPECT_EQ(HttpPost::seconds_for(0), HttpPost{}.seconds);
    EXPECT_EQ(HttpPost::seconds_for(20 << 20), 60u + 1280u);
    EXPECT_GT(HttpPost::seconds_for(UINT64_MAX), 60u);
}

TEST_F(ShippingTest, WaitsAsLongAsItIsAskedTo) {
    log.reply = [](const HttpPost&) { return HttpOutcome{503, 600}; };
    ASSERT_TRUE(shipper->set(shipping()));
    write(5);
    EXPECT_THAT(log.sent, SizeIs(1));
    pass(seconds(400), 0);
    EXPECT_THAT(log.sent, SizeIs(2));
}

TEST(ShippingBackoff, IsTwiceAsLongEachTimeAndAtRandom) {
    std::set<uint64_t> firsts;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        Backoff backoff(seed);
        for (const int most_s : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
            const uint64_t wait = backoff.next_ns(0);
            EXPECT_GE(wait, ns(seconds(most_s)) / 2);
            EXPECT_LE(wait, ns(seconds(most_s)));
            if (most_s == 1)
                firsts.insert(wait);
        }
        EXPECT_EQ(backoff.next_ns(300), ns(seconds(300)));
        EXPECT_EQ(backoff.next_ns(UINT64_MAX), ns(hours(1))) << "not for ever";
        backoff.reset();
        EXPECT_LE(backoff.next_ns(0), ns(seconds(1)));
    }
    EXPECT_GT(firsts.size(), 15u) << "they would come back together";
}

TEST_F(ShippingTest, WhatIsFoundAtTheBeginningIsSent) {
    be_down();
    ASSERT_TRUE(shipper->set(shipping()));
    write(3);
    shipper->finish();
    EXPECT_THAT(shipper->take_news(), Contains(HasSubstr("3 intervals wait in")));
    EXPECT_TRUE(shipper->outcome()) << "nothing is lost";
    log.sent.clear();
    be_up();
    shipper = make_shipper();
    ASSERT_TRUE(shipper->set(shipping()));
    EXPECT_EQ(shipper->status().found, (Count{3, 12}));
    work();
    EXPECT_EQ(shipper->status().shipped, (Count{3, 12}));
    EXPECT_THAT(log.sent, SizeIs(3));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path("spool")));
}

TEST_F(ShippingTest, TheEndSendsWhatThereIs) {
    ASSERT_TRUE(shipper->set(shipping()));
    pass(seconds(30));
    EXPECT_THAT(log.sent, IsEmpty());
    shipper->finish();
    EXPECT_THAT(log.sent, SizeIs(1));
    EXPECT_THAT(shipper->take_news(), IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path("spool")));
}

TEST_F(ShippingTest, IntervalsWithoutSamplesAreNotSent) {
    ASSERT_TRUE(shipper->set(shipping()));
    for (int i = 0; i < 5; i++)
        pass(seconds(60), 0);
    write(1);
    EXPECT_THAT(log.sent, SizeIs(1));
}

TEST_F(ShippingTest, WhatHasNoRoomIsGivenUpAndCounted) {
    be_down();
    Shipping settings = shipping();
    ASSERT_TRUE(shipper->set(settings));
    write(1);
    settings.bytes = shipper->status().bytes * 7 / 2;
    ASSERT_TRUE(shipper->set(settings));
    EXPECT_EQ(shipper->status().found, (Count{1, 4}));
    write(9);
    ShippingStatus status = shipper->status();
    EXPECT_LE(status.bytes, settings.bytes);
    EXPECT_EQ(status.waiting.intervals, 3u);
    EXPECT_EQ(status.given_up, (Count{7, 28}));
    EXPECT_THAT(shipper->outcome().error().message(), HasSubstr("7 were not taken"));
    settings.keep_ns = ns(minutes(5));
    ASSERT_TRUE(shipper->set(settings));
    pass(minutes(10), 0);
    status = shipper->status();
    EXPECT_EQ(status.given_up, (Count{3, 12}));
    EXPECT_EQ(status.bytes, 0u);
}

// Another protocol, an unreadable file, a folder in use: what was in force still is.
TEST_F(ShippingTest, AnEditIsWholeOrNotAtAll) {
    be_down();
    ASSERT_TRUE(shipper->set(shipping()));
    write(2);
    Shipping other = shipping("parca");
    const auto held = shipper->set(other);
    ASSERT_FALSE(held);
    EXPECT_THAT(held.error().message(), HasSubstr("it holds intervals for pyroscope-ingest"));
    other = shipping();
    other.header_file = folder.path("absent");
    EXPECT_FALSE(shipper->set(other));
    other = shipping();
    other.certificate_file = folder.file("ca", "no certificate");
    EXPECT_THAT(shipper->set(other).error().message(), HasSubstr("holds no certificates"));
    ASSERT_TRUE(shipper->active());
    EXPECT_EQ(shipper->status().waiting, (Count{2, 8}));
    const auto second = make_shipper();
    EXPECT_THAT(second->set(shipping()).error().message(), HasSubstr("another auger ships from"));
    be_up();
    write(1);
    EXPECT_EQ(shipper->status().shipped, (Count{3, 12}));
    ASSERT_TRUE(shipper->set({}));
    EXPECT_FALSE(shipper->active());
    EXPECT_TRUE(second->set(shipping()));
}

TEST_F(ShippingTest, HeadersAreReadAnewForEachRequest) {
    Shipping settings = shipping();
    settings.header_file = folder.file("headers", "# tenant\nX-Scope-OrgID: 1\n\n");
    settings.certificate_file = folder.file("ca", "-----BEGIN CERTIFICATE-----\n");
    chmod(settings.header_file.c_str(), 0600);
    ASSERT_TRUE(shipper->set(settings));
    EXPECT_EQ(log.certificates, "-----BEGIN CERTIFICATE-----\n");
    write(1);
    EXPECT_THAT(log.sent.back().post.headers,
                ElementsAre("Content-Type: application/octet-stream", "X-Scope-OrgID: 1"));
    folder.file("headers", "X-Scope-OrgID: 2\r\n");
    write(1);
    EXPECT_THAT(log.sent.back().post.headers, Contains("X-Scope-OrgID: 2"));
    chmod(settings.header_file.c_str(), 0644);
    write(1);
    EXPECT_THAT(log.sent, SizeIs(2)) << "what anybody may have written";
    EXPECT_THAT(shipper->status().problem, HasSubstr("others may read"));
    chmod(settings.header_file.c_str(), 0600);
    pass(minutes(2), 0);
    EXPECT_THAT(log.sent, SizeIs(3));
}

} // namespace
} // namespace auger
