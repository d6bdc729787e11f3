// SPDX-License-Identifier: GPL-3.0-or-later
// What requests to the endpoint mean, and what is said to those that mean nothing.
#include "repl/services/endpoint_request.h"
#include "tests/support/durations.h"

#include <gmock/gmock.h>

#include <random>

namespace auger {
namespace {

using testing::HasSubstr;
using Kind = EndpointRequest::Kind;
using Query = std::vector<std::pair<std::string, std::string>>;

constexpr uint64_t second = 1'000 * ms;

HttpRequest get(const std::string& path, Query query = {}) {
    return {1, "GET", path, std::move(query), "localhost:7400", "", ""};
}
HttpRequest post(const std::string& body) {
    return {1, "POST", "/sample", {}, "localhost", "", body};
}
std::string refusal(const HttpRequest& request, unsigned status = 400) {
    auto read = read_request(request);
    const auto* answer = std::get_if<HttpAnswer>(&read);
    if (!answer)
        return "not refused";
    EXPECT_EQ(answer->status, status) << answer->text;
    return answer->text;
}
EndpointRequest request(const HttpRequest& request) {
    auto read = read_request(request);
    if (auto* answer = std::get_if<HttpAnswer>(&read)) {
        ADD_FAILURE() << answer->text;
        return {};
    }
    return std::get<EndpointRequest>(read);
}

TEST(EndpointRequest, SamplesAreAsSwiftProfileRecordersAreAskedFor) {
    const auto read = request(post(R"({"numberOfSamples":100,"timeInterval":"10 ms"})"));
    EXPECT_EQ(read.kind, Kind::samples);
    EXPECT_EQ(read.interval_ns, 10 * ms);
    EXPECT_EQ(read.duration_ns, second);
    EXPECT_EQ(request(post(R"({"timeInterval":"100us","numberOfSamples":1})")).duration_ns,
              100'000u);
}

TEST(EndpointRequest, WhatIsWrongWithSamplesIsSaid) {
    EXPECT_THAT(refusal(post("")), HasSubstr("not a JSON object: send {\"numberOfSamples\":100"));
    EXPECT_THAT(refusal(post("[1]")), HasSubstr("not a JSON object"));
    EXPECT_THAT(refusal(post("{\"numberOfSamples\":1")), HasSubstr("not a JSON object"));
    EXPECT_THAT(refusal(post(std::string(4000, '['))), HasSubstr("not a JSON object"));
    EXPECT_THAT(refusal(post("{}")), HasSubstr("are needed"));
    EXPECT_THAT(refusal(post(R"({"numberOfSamples":-1,"timeInterval":"1 s"})")),
                HasSubstr("numberOfSamples is a number"));
    EXPECT_THAT(refusal(post(R"({"numberOfSamples":1e300,"timeInterval":"1 s"})")),
                HasSubstr("numberOfSamples is a number"));
    EXPECT_THAT(refusal(post(R"({"numberOfSamples":1,"timeInterval":10})")),
                HasSubstr("timeInterval is a duration"));
    EXPECT_THAT(refusal(post(R"({"numberOfSamples":1,"timeInterval":"1 fortnight"})")),
                HasSubstr("timeInterval is a duration"));
    EXPECT_THAT(refusal(post(R"({"numberOfSamples":1,"timeInterval":"1 us"})")),
                HasSubstr("between 21 us and 60 s"));
    EXPECT_THAT(refusal(post(R"({"numberOfSamples":18446744073709551615,"timeInterval":"1 s"})")),
                HasSubstr("at most 10 minutes"));
    EXPECT_THAT(refusal(post("{\"number\\u001b[1mOf\":1}")), HasSubstr("there is no \"number?"));
}

TEST(EndpointRequest, ProfilesAreAsGosAreAskedFor) {
    EXPECT_EQ(request(get("/debug/pprof/profile")).duration_ns, 30 * second);
    EXPECT_EQ(request(get("/debug/pprof/profile", {{"seconds", "5"}})).duration_ns, 5 * second);
    EXPECT_EQ(request(get("/debug/pprof/profile", {{"seconds", "0.5"}})).duration_ns, 500 * ms);
    EXPECT_EQ(request(get("/profile.otlp")).duration_ns, 30 * second);
    EXPECT_EQ(request(get("/profile.otlp", {{"seconds", "5"}})).duration_ns, 5 * second);
    for (const char* wrong : {"0", "-1", "", "x", "601", "1e9", "5 "})
        EXPECT_THAT(refusal(get("/debug/pprof/profile", {{"seconds", wrong}})),
                    HasSubstr("seconds is a number"))
            << wrong;
    EXPECT_THAT(refusal(get("/debug/pprof/profile", {{"debug", "1"}})),
                HasSubstr("there is no \"debug\""));
}

// Stores make a series of each.
TEST(EndpointRequest, ThreadsAreToldApartForWhoAsksForThem) {
    for (const char* path : {"/debug/pprof/profile", "/profile.otlp"}) {
        EXPECT_FALSE(request(get(path)).threads) << path;
        EXPECT_FALSE(request(get(path, {{"threads", "0"}})).threads) << path;
        EXPECT_TRUE(request(get(path, {{"threads", "1"}})).threads) << path;
        EXPECT_THAT(refusal(get(path, {{"threads", "yes"}})), HasSubstr("threads is 1")) << path;
    }
    EXPECT_THAT(refusal(get("/profile.folded", {{"threads", "1"}})),
                HasSubstr("only seconds, pid"));
}

TEST(EndpointRequest, ProfilesAreOfAProcessThatIsNamed) {
    const auto process = [](const HttpRequest& one) {
        return request(one).selection.filter.process;
    };
    for (const char* path : {"/debug/pprof/profile", "/profile.otlp", "/profile.folded"}) {
        EXPECT_FALSE(process(get(path))) << path;
        EXPECT_EQ(process(get(path, {{"pid", "4711"}})), 4711u) << path;
        // Who asks is known of a unix socket's clients only.
        HttpRequest own = get(path, {{"seconds", "1"}, {"pid", "self"}});
        EXPECT_THAT(refusal(own), HasSubstr("it takes a unix socket")) << path;
        own.process = 12;
        EXPECT_EQ(process(own), 12u) << path;
        EXPECT_EQ(request(own).duration_ns, second) << path;
        own.query.pop_back();
        EXPECT_FALSE(process(own)) << path;
        for (const char* wrong : {"0", "-1", "", "x", "4711 ", "2147483648", "Self"})
            EXPECT_THAT(refusal(get(path, {{"pid", wrong}})), HasSubstr("pid is a process's"))
                << wrong;
    }
    const auto samples = [](const std::string& pid) {
        HttpRequest one = post(R"({"numberOfSamples":1,"timeInterval":"1 s","pid":)" + pid + "}");
        one.process = 12;
        return one;
    };
    EXPECT_EQ(process(samples("4711")), 4711u);
    EXPECT_EQ(process(samples(R"("self")")), 12u);
    for (const char* wrong : {"-1", "0", "1.5", "null", "[1]", R"("x")"})
        EXPECT_THAT(refusal(samples(wrong)), HasSubstr("pid is a process's")) << wrong;
    EXPECT_THAT(refusal(get("/flame.html", {{"pid", "1"}})), HasSubstr("there is no \"pid\""));
    EXPECT_EQ(request(get("/profile.folded")).kind, Kind::collapsed);
    EXPECT_EQ(request(get("/profile.folded")).duration_ns, 30 * second);
}

TEST(EndpointRequest, FlamesAreOfAPart) {
    const auto read = request(get(
        "/flame.html",
        {{"class", "slow+taken"}, {"by", "comm"}, {"under", "handle request"}, {"window", "10s"}}));
    EXPECT_EQ(to_string(read.selection.filter), "slow+taken");
    EXPECT_EQ(read.selection.by, *GroupBy::named("comm"));
    EXPECT_EQ(read.selection.under, "handle request");
    ASSERT_TRUE(read.window);
    EXPECT_EQ(*read.window, (Window{Window::Kind::last, 10 * second, 0}));
    EXPECT_FALSE(request(get("/flame.html")).window);
    EXPECT_EQ(request(get("/flame.html", {{"window", "all"}})).window->kind, Window::Kind::all);
    EXPECT_THAT(refusal(get("/flame.html", {{"class", "slw"}})), HasSubstr("slw"));
    EXPECT_THAT(refusal(get("/flame.html", {{"by", "cpus"}})), HasSubstr("by is one of process"));
    EXPECT_THAT(refusal(get("/flame.html", {{"window", "0s"}})), HasSubstr("window is"));
    EXPECT_THAT(refusal(get("/flame.html", {{"x\n", "1"}})), HasSubstr("no \"x?\""));
}

TEST(EndpointRequest, AnswersOfCommandsHaveTheirParameters) {
    EXPECT_EQ(request(get("/flame.html")).kind, Kind::flame_html);
    EXPECT_EQ(request(get("/flame", {{"under", "f"}})).selection.under, "f");
    EXPECT_EQ(request(get("/top", {{"rows", "20"}})).rows, 20u);
    EXPECT_EQ(request(get("/diff", {{"window", "10s"}})).window->span_ns, 10 * second);
    EXPECT_EQ(request(get("/hist", {{"probe", "3"}})).probe, ProbeId{3});
    const auto calls = request(get("/calls", {{"class", "slow"}, {"rows", "5"}, {"probe", "1"}}));
    EXPECT_EQ(to_string(calls.selection.filter), "slow");
    EXPECT_EQ(calls.rows, 5u);
    EXPECT_EQ(request(get("/events")).kind, Kind::events);
    EXPECT_THAT(refusal(get("/hist")), HasSubstr("probe=NUMBER is needed"));
    EXPECT_THAT(refusal(get("/hist", {{"probe", "handle"}})), HasSubstr("probe is a number"));
    EXPECT_THAT(refusal(get("/hist", {{"probe", "4294967296"}})), HasSubstr("probe is a number"));
    EXPECT_THAT(refusal(get("/top", {{"rows", "0"}})), HasSubstr("rows is a number from 1"));
    EXPECT_THAT(refusal(get("/top", {{"probe", "1"}})), HasSubstr("only class, window, rows"));
    EXPECT_THAT(refusal(get("/events", {{"rows", "1"}})), HasSubstr("no parameters"));
}

TEST(EndpointRequest, OtherPathsAndMethodsAreRefused) {
    EXPECT_EQ(request(get("/metrics")).kind, Kind::metrics);
    EXPECT_EQ(request(get("/status")).kind, Kind::status);
    EXPECT_EQ(request(get("/")).kind, Kind::index);
    EXPECT_THAT(refusal(get("/../etc/passwd"), 404), HasSubstr("POST /sample"));
    EXPECT_THAT(refusal(get("/sample"), 405), HasSubstr("/sample takes POST"));
    EXPECT_THAT(refusal(get("/metrics", {{"a", "b"}})), HasSubstr("no parameters"));
    HttpRequest erase = get("/status");
    erase.method = "DELETE";
    EXPECT_THAT(refusal(erase, 405), HasSubstr("/status takes GET"));
}

// What scrapers really send, and what they might.
TEST(EndpointRequest, MetricsComeInTheFormThatIsAccepted) {
    const auto protobuf = [](const std::string& accept) {
        HttpRequest one = get("/metrics");
        one.accept = accept;
        return request(one).protobuf;
    };
    const std::string messages =
        "application/"
        "vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
    EXPECT_FALSE(protobuf(""));
    EXPECT_FALSE(protobuf("*/*"));
    EXPECT_FALSE(protobuf("application/openmetrics-text;version=1.0.0,application/"
                          "openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/"
                          "*;q=0.1"));
    EXPECT_TRUE(protobuf(messages)); // and of Prometheus 2.42 with native histograms:
    EXPECT_TRUE(protobuf(messages + ",application/openmetrics-text;version=1.0.0;q=0.8,application/"
                                    "openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0."
                                    "4;q=0.5,*/*;q=0.1"));
    EXPECT_TRUE(protobuf("text/plain;version=0.0.4;q=0.5, " + messages + " ; q=0.6"));
    EXPECT_FALSE(protobuf("text/plain;version=0.0.4;q=0.7," + messages + ";q=0.6"));
    EXPECT_FALSE(protobuf(messages + ";q=0"));
    EXPECT_FALSE(protobuf(messages + ";q=nonsense"));
    EXPECT_FALSE(protobuf("application/vnd.google.protobuf;encoding=delimited"));
    EXPECT_FALSE(protobuf("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
                          "encoding=text"));
    EXPECT_FALSE(protobuf(",;;,q=1; ,;"));
    HttpRequest other = get("/status");
    other.accept = messages;
    EXPECT_FALSE(request(other).protobuf);
}

// A web page somewhere makes its visitor's browser ask.
TEST(EndpointRequest, StrangersAreRefused) {
    for (const char* host :
         {"example.com", "example.com:7400", "127.0.0.1.example.com", "[::2]:1"}) {
        HttpRequest rebound = get("/status");
        rebound.host = host;
        EXPECT_THAT(refusal(rebound, 403), HasSubstr("only this machine")) << host;
    }
    for (const char* host : {"", "localhost", "127.0.0.1:7400", "[::1]", "[::1]:7400"}) {
        HttpRequest ours = get("/status");
        ours.host = host;
        EXPECT_EQ(request(ours).kind, Kind::status) << host;
    }
    HttpRequest page = post(R"({"numberOfSamples":1,"timeInterval":"1 s"})");
    page.origin = "https://example.com";
    EXPECT_THAT(refusal(page, 403), HasSubstr("only this machine"));
    page.origin = "http://localhost";
    EXPECT_EQ(request(page).kind, Kind::samples);
}

// Right requests with bytes changed, left out and doubled: an answer, or a request within limits.
TEST(EndpointRequest, WhateverComesHasItsAnswer) {
    std::mt19937 random(1);
    const auto damaged = [&](std::string text) {
        for (size_t i = 0, times = random() % 4; i < times && !text.empty(); i++) {
            const size_t at = random() % text.size();
            if (random() % 3 == 0)
                text[at] = static_cast<char>(random());
            else if (random() % 2 == 0)
                text.erase(at, 1 + random() % 4);
            else
                text.insert(at, text.substr(random() % text.size(), random() % 20));
        }
        return text;
    };
    size_t taken = 0;
    for (int i = 0; i < 20'000; i++) {
        const bool is_post = random() % 2;
        HttpRequest one = is_post
                              ? post(damaged(R"({"numberOfSamples":100,"timeInterval":"10 ms"})"))
                              : get("/flame.html", {{"class", damaged("slow+10ms..50ms+=3")},
                                                    {damaged("under"), damaged("a;b")},
                                                    {"window", damaged("10s")}});
        one.path = damaged(one.path);
        one.host = damaged(one.host);
        auto read = read_request(one);
        if (const auto* answer = std::get_if<HttpAnswer>(&read)) {
            ASSERT_GE(answer->status, 400u);
            ASSERT_FALSE(answer->text.empty());
            continue;
        }
        taken++;
        const auto& request = std::get<EndpointRequest>(read);
        ASSERT_LE(request.duration_ns, 600 * second);
        ASSERT_EQ(request.duration_ns != 0, request.interval_ns != 0);
    }
    // A quarter of the texts stays as it is. Of some 10,000 posts, body, path and host do in one of
    // 64, which is 156; the numbers are the same in each run.
    EXPECT_GT(taken, 100u);
}

} // namespace
} // namespace auger
