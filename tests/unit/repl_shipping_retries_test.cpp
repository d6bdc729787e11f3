// SPDX-License-Identifier: GPL-3.0-or-later
// What is sent again, when, and for how long.
#include "tests/unit/repl_fake_receiver.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

namespace auger {
namespace {

using std::chrono::minutes, std::chrono::seconds;
using testing::Contains, testing::HasSubstr, testing::SizeIs;
using Count = ShippingStatus::Count;

class ShippingRetries : public ShippingTest {
  protected:
    // A file of headers, as others may not read it.
    std::string headers(const std::string& text) {
        const std::string path = folder.file("headers", text);
        chmod(path.c_str(), 0600);
        return path;
    }
    size_t attempts(const std::string& url) const {
        return static_cast<size_t>(std::ranges::count(
            log.sent, url, [](const FakePoster::Sent& sent) { return sent.post.url; }));
    }
    void answer(uint32_t status) {
        const char* const text = status >= 200 && status < 300 ? "" : "te\x1bxt";
        log.reply = [=](const HttpPost&) { return HttpOutcome{status, 0, 0, text}; };
    }
};

TEST_F(ShippingRetries, WhatTheReceiverSaysDecides) {
    constexpr auto shipped = &ShippingStatus::shipped, refused = &ShippingStatus::refused,
                   waiting = &ShippingStatus::waiting;
    struct Case {
        std::set<uint32_t> statuses;
        Count ShippingStatus::*of_otlp, ShippingStatus::*of_others;
        Count ShippingStatus::*of_others_with_headers;
    };
    const Case cases[] = {{{200, 202, 204}, shipped, shipped, shipped},
                          {{302, 400, 404, 413, 422, 501}, refused, refused, refused},
                          {{0, 429, 502, 503, 504}, waiting, waiting, waiting},
                          {{408, 409, 500}, refused, waiting, waiting},
                          {{401, 403}, refused, refused, waiting}};
    size_t spools = 0;
    const auto expect = [&](const std::string& protocol, uint32_t status, bool with_headers,
                            Count ShippingStatus::*fate) {
        SCOPED_TRACE(protocol + " " + std::to_string(status) + (with_headers ? " headers" : ""));
        log = {};
        answer(status);
        Shipping settings = shipping(protocol.c_str());
        settings.spool = folder.path("spool-" + std::to_string(spools++));
        if (with_headers)
            settings.header_file = headers("Authorization: Bearer 1\n");
        shipper = make_shipper();
        ASSERT_TRUE(shipper->set(settings));
        write(1);
        EXPECT_EQ(shipper->status().*fate, (Count{1, 4}));
        EXPECT_THAT(log.sent, SizeIs(1));
        EXPECT_EQ(shipper->outcome().ok(), fate != refused);
        if (fate == refused) {
            EXPECT_THAT(shipper->outcome().error().message(), HasSubstr(std::to_string(status)));
        }
        EXPECT_THAT(shipper->take_news(), SizeIs(fate == shipped ? 0 : 1));
    };
    for (const Case& one : cases)
        for (const uint32_t status : one.statuses) {
            expect("otlp", status, false, one.of_otlp);
            expect("pyroscope-ingest", status, false, one.of_others);
            expect("pyroscope-ingest", status, true, one.of_others_with_headers);
        }
    for (const uint32_t status : {408, 409, 500, 503})
        for (const char* protocol : {"pyroscope", "parca"})
            expect(protocol, status, false, waiting);
}

// Nor is it lost while there may be another reason.
TEST_F(ShippingRetries, AnIntervalThatFailsHoldsUpNoOther) {
    std::string bad;
    log.reply = [&](const HttpPost& post) -> HttpOutcome {
        if (bad.empty())
            bad = post.url;
        return {post.url == bad ? 500u : 200u, 0, 0, "cannot parse"};
    };
    ASSERT_TRUE(shipper->set(shipping()));
    const uint64_t began = backend.clock();
    write(1);
    pass(seconds(10), 0);
    const auto minute = [&](size_t number) {
        pass(seconds(50));
        ASSERT_TRUE(written(number));
        pass(seconds(10), 0); // in which it may be the other one's turn
        ASSERT_EQ(shipper->status().shipped.intervals, number - 1);
        ASSERT_EQ(shipper->status().problem, "");
    };
    for (size_t i = 2; i < 60; i++) {
        minute(i);
        ASSERT_EQ(shipper->status().waiting, (Count{1, 4}));
    }
    EXPECT_LT(backend.clock() - began, Attempts::doubt_ns);
    for (size_t i = 60; i < 70; i++)
        minute(i);
    EXPECT_EQ(shipper->status().refused, (Count{1, 4}));
    EXPECT_EQ(shipper->status().waiting, Count{});
    EXPECT_GE(attempts(bad), 50u);
    EXPECT_LE(attempts(bad), 130u);
    const std::vector<std::string> news = shipper->take_news();
    EXPECT_THAT(news, Contains(HasSubstr("fails to take an interval, which is tried again: HTTP "
                                         "500: cannot parse")));
    EXPECT_THAT(news, Contains(HasSubstr("refuses intervals: HTTP 500: cannot parse")));
    EXPECT_THAT(news, SizeIs(2)) << "it is said at each attempt";
    EXPECT_THAT(shipper->outcome().error().message(), HasSubstr("1 were not taken"));
}

// As that of a server whose own store is away.
TEST_F(ShippingRetries, AnHourOfFailuresLosesNothing) {
    answer(500);
    ASSERT_TRUE(shipper->set(shipping()));
    for (size_t i = 0; i < 75; i++)
        write(1);
    EXPECT_EQ(shipper->status().waiting.intervals, 75u);
    EXPECT_THAT(shipper->status().problem, HasSubstr("HTTP 500"));
    EXPECT_LE(log.sent.size(), 200u);
    log.sent.clear();
    be_up();
    pass(minutes(2), 0);
    pass(minutes(2), 0);
    EXPECT_EQ(shipper->status().shipped, (Count{75, 300}));
    EXPECT_EQ(shipper->status().problem, "");
    std::set<std::string> sent;
    for (const FakePoster::Sent& one : log.sent)
        EXPECT_TRUE(sent.insert(one.post.url).second) << "sent twice";
    EXPECT_THAT(sent, SizeIs(75));
    EXPECT_TRUE(shipper->outcome());
}

// The end does not wait for what will not be tried again soon.
TEST_F(ShippingRetries, WhatIsInDoubtWaitsForTheNextTime) {
    answer(500);
    ASSERT_TRUE(shipper->set(shipping()));
    write(1);
    EXPECT_EQ(shipper->status().problem, "");
    shipper->finish();
    EXPECT_THAT(log.sent, SizeIs(1));
    EXPECT_THAT(shipper->take_news(), Contains(HasSubstr("1 interval waits in")));
}

TEST_F(ShippingRetries, ATokenMayBeReplaced) {
    answer(401);
    Shipping settings = shipping("otlp");
    settings.header_file = headers("Authorization: Bearer old\n");
    ASSERT_TRUE(shipper->set(settings));
    write(3);
    EXPECT_EQ(shipper->status().waiting, (Count{3, 12}));
    EXPECT_THAT(shipper->status().problem,
                testing::AllOf(HasSubstr("HTTP 401: te"),
                               HasSubstr(settings.header_file + " is read again for each")));
    log.reply = [](const HttpPost& post) {
        return HttpOutcome{post.headers.back() == "Authorization: Bearer new" ? 200u : 401u};
    };
    headers("Authorization: Bearer new\n");
    pass(minutes(2), 0);
    EXPECT_EQ(shipper->status().shipped, (Count{3, 12}));
}

TEST_F(ShippingRetries, NobodyAsksForLongerThanAnHour) {
    // The last of them is 0.3 s, as nanoseconds in 64 bits.
    for (const uint64_t asked_s : {uint64_t{7'200}, uint64_t{18'446'744'074}, UINT64_MAX}) {
        SCOPED_TRACE(asked_s);
        log = {};
        log.reply = [=](const HttpPost&) { return HttpOutcome{503, asked_s}; };
        Shipping settings = shipping();
        settings.spool = folder.path("spool-" + std::to_string(asked_s));
        shipper = make_shipper();
        ASSERT_TRUE(shipper->set(settings));
        write(1);
        pass(minutes(58), 0);
        EXPECT_THAT(log.sent, SizeIs(1));
        pass(minutes(3), 0);
        EXPECT_THAT(log.sent, SizeIs(2));
    }
}

TEST_F(ShippingRetries, AWarningOfOtlpIsToldOnce) {
    log.reply = [](const HttpPost&) { return HttpOutcome{200, 0, 0, "host.name is missing"}; };
    ASSERT_TRUE(shipper->set(shipping("otlp")));
    write(2);
    EXPECT_EQ(shipper->status().shipped.intervals, 2u);
    EXPECT_EQ(shipper->status().rejected, 0u);
    EXPECT_THAT(shipper->take_news(),
                testing::ElementsAre("shipping: the receiver took an interval, and says: "
                                     "host.name is missing"));
    // What others answer is theirs.
    log.reply = [](const HttpPost&) { return HttpOutcome{200, 0, 0, "{}"}; };
    Shipping other = shipping("pyroscope");
    other.spool = folder.path("other");
    ASSERT_TRUE(shipper->set(other));
    write(1);
    EXPECT_THAT(shipper->take_news(), testing::IsEmpty());
}

} // namespace
} // namespace auger
