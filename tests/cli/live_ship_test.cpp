// SPDX-License-Identifier: GPL-3.0-or-later
// Profiles of a program that knows where its time goes, sent to a receiver that the test plays.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/support/free_port.h"
#include "tests/support/stub_receiver.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace auger::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class LiveShipping : public LiveTest {
  protected:
    std::string spool() const { return folder_.path("spool"); }
    size_t waiting() const {
        std::error_code none;
        return static_cast<size_t>(
            std::distance(std::filesystem::directory_iterator(spool(), none), {}));
    }
    // Lets auger go on until it is so.
    template <typename Done>
    static bool go_on_until(LiveAuger& auger, Done done) {
        return wait_until([&] {
            auger.run({"wait 200ms"});
            return done();
        });
    }
    static json account(LiveAuger& auger) { return auger.ask("status")["shipping"][0]; }
    static void expect_sum(const json& account) {
        for (const char* unit : {"intervals", "samples"}) {
            const auto of = [&](const char* fate) { return account[fate][unit].get<uint64_t>(); };
            EXPECT_EQ(of("found") + of("written"),
                      of("shipped") + of("refused") + of("given_up") + of("waiting"))
                << account;
        }
    }
};

TEST_F(LiveShipping, EachSampleArrivesOnce) {
    Program busy("spinner", {});
    busy.wait_ready();
    StubReceiver receiver;
    std::string token = folder_.file("headers", "Authorization: Bearer secret\n");
    chmod(token.c_str(), 0600);
    {
        LiveAuger auger({"-p", std::to_string(busy.pid()), "--ship",
                         fmt::format("pyroscope-ingest {} every 1s as spinner headers {} spool {}",
                                     receiver.url(), token, spool())});
        EXPECT_THAT(auger.ask("ship").dump(), HasSubstr("shipping intervals of 1s"));
        auger.run({"time hot", "sample 999"});
        EXPECT_TRUE(go_on_until(
            auger, [&] { return account(auger)["shipped"]["intervals"].get<uint64_t>() > 1; }));
        auger.run({"sample off"});
        EXPECT_TRUE(
            go_on_until(auger, [&] { return account(auger)["waiting"]["intervals"] == 0; }));
        const json shipped = account(auger);
        expect_sum(shipped);
        EXPECT_EQ(shipped["refused"]["intervals"], 0);
        EXPECT_GT(shipped["shipped"]["samples"], 0);
    }
    const auto requests = receiver.requests();
    ASSERT_GT(requests.size(), 1u);
    std::string last;
    std::set<std::string> bodies;
    for (const auto& request : requests) {
        EXPECT_TRUE(bodies.insert(request.body).second) << "an interval came twice";
        EXPECT_EQ(request.path, "/ingest");
        EXPECT_EQ(request.parameters.at("name"), "spinner");
        EXPECT_EQ(request.headers.at("authorization"), "Bearer secret");
        EXPECT_EQ(request.body.substr(0, 2), "\x1f\x8b");
        EXPECT_GE(request.parameters.at("from"), last);
        last = request.parameters.at("from");
    }
    EXPECT_EQ(waiting(), 0u);
}

// One that is not there holds up no other, and each has an account of its own.
TEST_F(LiveShipping, GoesToSeveralReceivers) {
    Program busy("spinner", {});
    busy.wait_ready();
    StubReceiver receiver, away([](const auto&, size_t) {
        return StubReceiver::Answer{503, "later"};
    });
    // Both are there before the first sample is.
    LiveAuger auger({"--ship", fmt::format("otlp {} every 1s spool {}", receiver.url(), spool()),
                     "--ship",
                     fmt::format("parca {} every 1s spool {}", away.url(), folder_.path("away"))});
    auger.run({fmt::format("target -p {}", busy.pid()), "sample 999"});
    const auto accounts = [&] { return auger.ask("status")["shipping"]; };
    EXPECT_TRUE(go_on_until(auger, [&] {
        const json all = accounts();
        return all[0]["shipped"]["intervals"] > 1 && all[1]["waiting"]["intervals"] > 1;
    }));
    auger.run({"sample off"});
    EXPECT_TRUE(go_on_until(auger, [&] {
        const json status = auger.ask("status"), all = status["shipping"];
        return all[0]["shipped"]["samples"] == status["samples"] &&
               all[1]["waiting"]["samples"] == status["samples"];
    })) << auger.ask("status");
    const json all = accounts();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0]["receiver"], "otlp " + receiver.url());
    EXPECT_EQ(all[1]["receiver"], "parca " + away.url());
    for (const json& one : all)
        expect_sum(one);
    EXPECT_EQ(all[1]["shipped"]["intervals"], 0);
    auger.run({"ship off " + away.url()});
    EXPECT_EQ(accounts().size(), 1u);
}

// While the receiver has too much to do, or nobody is there, intervals wait; the next auger finds
// them.
TEST_F(LiveShipping, NothingIsLostWhileTheReceiverIsAway) {
    Program program("spinner", {});
    program.wait_ready();
    const std::string pid = std::to_string(program.pid());
    uint16_t port = 0;
    uint64_t samples = 0;
    {
        StubReceiver busy([](const auto&, size_t) { return StubReceiver::Answer{503, "later"}; });
        port = busy.port();
        LiveAuger auger({"-p", pid, "-e", "sample 999"});
        auger.run({"time hot", fmt::format("ship otlp {} every 1s spool {}", busy.url(), spool())});
        EXPECT_TRUE(go_on_until(
            auger, [&] { return account(auger)["waiting"]["intervals"].get<uint64_t>() > 1; }));
        EXPECT_GT(busy.requests().size(), 0u);
        const json kept = account(auger);
        expect_sum(kept);
        EXPECT_THAT(kept["problem"].get<std::string>(), HasSubstr("HTTP 503: later"));
        EXPECT_THAT(auger.notices, Contains(HasSubstr("takes no intervals now")));
        auger.run({"sample off", "ship off"});
        samples = kept["waiting"]["samples"];
    }
    EXPECT_GT(waiting(), 1u);
    StubReceiver receiver({}, StubReceiver::Transport::plain, port);
    LiveAuger auger({"-p", pid});
    auger.run({fmt::format("ship otlp {} every 1s spool {}", receiver.url(), spool())});
    EXPECT_TRUE(go_on_until(auger, [&] { return account(auger)["waiting"]["intervals"] == 0; }));
    const json sent = account(auger);
    expect_sum(sent);
    EXPECT_GE(sent["found"]["samples"].get<uint64_t>(), samples);
    for (const auto& request : receiver.requests()) {
        EXPECT_EQ(request.path, "/v1development/profiles");
        EXPECT_EQ(request.headers.at("content-encoding"), "gzip");
    }
}

TEST_F(LiveShipping, WhatIsWrongIsSaidAtOnce) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    const std::string open = folder_.file("headers", "A: b\n");
    chmod(open.c_str(), 0644);
    EXPECT_THAT(auger.error("ship otlp http://127.0.0.1:1 headers " + open),
                HasSubstr("others may read"));
    EXPECT_THAT(auger.error("ship otlp http://me:pass@127.0.0.1:1"), HasSubstr("password"));
    EXPECT_THAT(auger.ask("ship").dump(), HasSubstr("nothing is shipped"));
}

// What the collector says that it has received: of the first profile of each scope, which is that
// of samples, the sum of the values; and whether a text was in it.
struct Received {
    uint64_t samples = 0;
    bool has_function = false, has_service = false;
};

Received received(const std::string& log) {
    Received all;
    bool counts = false;
    std::istringstream lines(text_of(log));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("Profile #"))
            counts = line == "Profile #0";
        const size_t value = line.find("Values: [");
        if (counts && value != line.npos)
            all.samples += std::stoull(line.substr(value + 9));
        all.has_function |= line.find("hot") != line.npos;
        all.has_service |= line.find("service.name: Str(spinner)") != line.npos;
    }
    return all;
}

// One of Debian unstable's sources (tests/receivers/make_collector), and what it makes of them.
TEST_F(LiveShipping, AnOpenTelemetryCollectorReceivesEachSample) {
    const char* collector = std::getenv("AUGER_COLLECTOR");
    if (!collector)
        GTEST_SKIP() << "AUGER_COLLECTOR names no collector: `./run test-receivers`";
    const uint16_t port = free_port();
    const std::string settings = folder_.file(
        "collector.yaml",
        fmt::format("receivers: {{otlp: {{protocols: {{http: {{endpoint: '127.0.0.1:{}'}}}}}}}}\n"
                    "exporters: {{debug: {{verbosity: detailed}}}}\n"
                    "service:\n"
                    "  telemetry: {{metrics: {{level: none}}}}\n"
                    "  pipelines: {{profiles: {{receivers: [otlp], exporters: [debug]}}}}\n",
                    port));
    const std::string log = folder_.path("collector.log");
    Program server("/bin/sh", {"-c", fmt::format("exec {} --config=file:{} --feature-gates="
                                                 "service.profilesSupport >{} 2>&1",
                                                 collector, settings, log)});
    ASSERT_TRUE(wait_until([&] {
        return text_of(log).find("Everything is ready") != std::string::npos;
    })) << text_of(log);
    Program busy("spinner", {});
    busy.wait_ready();
    uint64_t samples = 0;
    {
        LiveAuger auger(
            {"-p", std::to_string(busy.pid()), "--ship",
             fmt::format("otlp http://127.0.0.1:{} every 1s as spinner spool {}", port, spool())});
        auger.run({"sample 999"});
        EXPECT_TRUE(go_on_until(
            auger, [&] { return account(auger)["shipped"]["intervals"].get<uint64_t>() > 2; }));
        auger.run({"sample off"});
        EXPECT_TRUE(go_on_until(auger, [&] {
            const json status = auger.ask("status");
            return status["shipping"][0]["shipped"]["samples"] == status["samples"];
        }));
        const json shipped = account(auger);
        expect_sum(shipped);
        EXPECT_EQ(shipped["refused"]["intervals"], 0);
        EXPECT_EQ(shipped["rejected"], 0);
        samples = shipped["shipped"]["samples"];
    }
    EXPECT_GT(samples, 0u);
    EXPECT_TRUE(wait_until([&] { return received(log).samples >= samples; }));
    const Received all = received(log);
    EXPECT_EQ(all.samples, samples);
    EXPECT_TRUE(all.has_function);
    EXPECT_TRUE(all.has_service);
}

} // namespace
} // namespace auger::test
