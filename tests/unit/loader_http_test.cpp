// SPDX-License-Identifier: GPL-3.0-or-later
// Requests by HTTP through a process without power, to servers that are on the loopback here.
#include "tests/support/stub_receiver.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_certificate.h"

#include "loader/base/bytes.h"
#include "loader/http/confined_poster.h"
#include "loader/http/http_messages.h"
#include "loader/reader/http/curl_library.h"
#include "loader/reader/http/otlp_answer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>

namespace auger {
namespace {

using test::StubReceiver;
using testing::HasSubstr;
using Answer = StubReceiver::Answer;
using Transport = StubReceiver::Transport;

class HttpPosting : public testing::Test {
  protected:
    void serve(StubReceiver::Reply reply, Transport transport = Transport::plain) {
        receiver.emplace(std::move(reply), transport);
    }
    // What comes of one request, from a poster of its own unless there is one.
    HttpOutcome post(HttpPost request, const std::string& body = "body") {
        if (!poster) {
            auto made = ConfinedPoster::open(certificates);
            EXPECT_TRUE(made) << made.error().message();
            poster = std::move(*made);
        }
        if (request.url.empty())
            request.url = receiver->url() + "/in";
        const auto started =
            poster->start(request, UniqueFd(open(folder.file("body", body).c_str(), O_RDONLY)));
        EXPECT_TRUE(started) << started.error().message();
        for (;;) {
            pollfd answer{poster->wake_fd(), POLLIN, 0};
            poll(&answer, 1, 1000);
            if (const auto outcome = poster->take())
                return *outcome;
        }
    }

    test::TemporaryFolder folder;
    std::optional<StubReceiver> receiver;
    std::string certificates;
    std::unique_ptr<HttpPoster> poster;
};

// A partial success of OTLP's, as protobuf has it.
std::string partial_success(uint64_t rejected, const std::string& message) {
    std::string inner, outer;
    ByteWriter in(inner), out(outer);
    in.varint(1 << 3);
    in.varint(rejected);
    in.varint(2 << 3 | 2);
    in.string(message);
    out.varint(1 << 3 | 2);
    out.string(inner);
    return outer;
}

TEST_F(HttpPosting, SendsBodyAndHeadersAndKeepsTheConnection) {
    serve({});
    std::string large(5 << 20, 'x');
    large += '\0';
    EXPECT_EQ(post({.url = {}, .headers = {"Content-Type: a/b", "X-Scope: 7"}}, large).status,
              200u);
    EXPECT_EQ(post({}, "").status, 200u);
    const auto requests = receiver->requests();
    ASSERT_EQ(requests.size(), 2u);
    EXPECT_EQ(requests[0].method, "POST");
    EXPECT_EQ(requests[0].path, "/in");
    EXPECT_EQ(requests[0].headers.at("content-type"), "a/b");
    EXPECT_EQ(requests[0].headers.at("x-scope"), "7");
    EXPECT_FALSE(requests[0].headers.contains("expect"));
    EXPECT_TRUE(requests[0].body == large);
    EXPECT_EQ(requests[1].body, "");
}

TEST_F(HttpPosting, TellsWhatTheServerSays) {
    serve([](const StubReceiver::Request& request, size_t number) {
        if (request.path != "/in")
            return Answer{};
        return std::array{Answer{503, "later", {{"Retry-After", "17"}}}, Answer{400, "no\x1b[2J"},
                          Answer{302, "", {{"Location", "/elsewhere"}}}}[number];
    });
    EXPECT_EQ(post({}), (HttpOutcome{503, 17, 0, "later"}));
    EXPECT_EQ(post({}), (HttpOutcome{400, 0, 0, "no\x1b[2J"}));
    EXPECT_EQ(post({}).status, 302u) << "a token is not for others";
    EXPECT_EQ(receiver->requests().size(), 3u);
}

TEST_F(HttpPosting, UnderstandsOtlp) {
    serve([](const auto&, size_t number) {
        return std::array{Answer{200, partial_success(3, "too old")},
                          // google.rpc.Status: a code, and a text
                          Answer{400, std::string("\x08\x03\x12\x02no", 6)}, Answer{200, ""},
                          Answer{200, "\xff\xff plain"}}[number];
    });
    const HttpPost request{.url = {}, .otlp = true};
    EXPECT_EQ(post(request), (HttpOutcome{200, 0, 3, "too old"}));
    EXPECT_EQ(post(request), (HttpOutcome{400, 0, 0, "no"}));
    EXPECT_EQ(post(request), (HttpOutcome{200, 0, 0, ""}));
    EXPECT_EQ(post(request), (HttpOutcome{200, 0, 0, "\xff\xff plain"}));
}

TEST_F(HttpPosting, NobodyThereOrNobodyWhoAnswers) {
    serve([](const auto&, size_t number) {
        return Answer{.kind = number == 0 ? Answer::Kind::hang : Answer::Kind::close};
    });
    HttpOutcome outcome = post({.url = {}, .seconds = 1});
    EXPECT_EQ(outcome.status, 0u);
    EXPECT_THAT(outcome.text, HasSubstr("timed out"));
    EXPECT_EQ(post({}).status, 0u);
    const std::string gone = receiver->url();
    receiver.reset();
    outcome = post({.url = gone});
    EXPECT_EQ(outcome.status, 0u);
    EXPECT_THAT(outcome.text, HasSubstr("connect"));
}

TEST_F(HttpPosting, AnAnswerIsBounded) {
    serve([](const auto&, size_t number) {
        return Answer{.kind = number == 0 ? Answer::Kind::endless : Answer::Kind::answer};
    });
    const HttpOutcome outcome = post({.url = {}, .seconds = 20});
    EXPECT_EQ(outcome.status, 200u);
    EXPECT_EQ(outcome.text.size(), http_messages::text_limit);
    EXPECT_EQ(post({}).status, 200u);
}

TEST_F(HttpPosting, ServersAreWhoTheySay) {
    serve({}, Transport::tls);
    HttpOutcome outcome = post({});
    EXPECT_EQ(outcome.status, 0u) << "anybody can make such a certificate";
    EXPECT_THAT(outcome.text, HasSubstr("ertificate"));
    EXPECT_TRUE(receiver->requests().empty());
    poster.reset();
    certificates = test::test_certificate;
    EXPECT_EQ(post({}).status, 200u);
    // Another name than that in the certificate.
    outcome = post({.url = "https://localhost:" + std::to_string(receiver->port())});
    EXPECT_EQ(outcome.status, 0u);
    serve({});
    outcome = post({.url = "https://127.0.0.1:" + std::to_string(receiver->port())});
    EXPECT_EQ(outcome.status, 0u) << "it does not speak TLS";
}

TEST(HttpMessages, OnlyWholeOnesAreBelieved) {
    const http_messages::Begin begin{{"a=b", "c="}, "-----"};
    const HttpPost post{"http://h", {"A: b"}, true, 7};
    const HttpOutcome outcome{503, 9, 2, "text"};
    const std::string begun = http_messages::begin(begin), posted = http_messages::post(post),
                      came = http_messages::outcome(outcome);
    EXPECT_EQ(http_messages::begin(begun), begin);
    EXPECT_EQ(http_messages::post(posted), post);
    EXPECT_EQ(http_messages::outcome(came), outcome);
    EXPECT_FALSE(http_messages::begin(begun + "x"));
    EXPECT_FALSE(http_messages::post(std::string_view(posted).substr(1)));
    EXPECT_FALSE(http_messages::outcome(std::string_view(came).substr(0, came.size() - 1)));
    EXPECT_FALSE(http_messages::outcome(std::string("\xd0\x0f\0\0\0", 5))) << "no status of HTTP";
}

TEST(OtlpAnswer, IsReadAsFarAsItHoldsTogether) {
    EXPECT_EQ(read_otlp_success("")->rejected, 0u);
    EXPECT_EQ(read_otlp_success(partial_success(12, "m"))->rejected, 12u);
    EXPECT_EQ(read_otlp_success(partial_success(UINT64_MAX, ""))->rejected, 0u) << "-1";
    // Fields that nobody knows yet are passed over.
    EXPECT_EQ(read_otlp_success("\x78\x05" + partial_success(1, "m"))->message, "m");
    EXPECT_FALSE(read_otlp_success("plain text"));
    EXPECT_FALSE(read_otlp_success(partial_success(1, "long").substr(0, 6)));
    EXPECT_FALSE(read_otlp_failure("<html>"));
}

} // namespace
} // namespace auger
