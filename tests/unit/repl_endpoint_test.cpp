// SPDX-License-Identifier: GPL-3.0-or-later
// The endpoint in a session on a fake backend, asked through real connections: answers, what is
// sampled for them, and clients that mean harm.
#include "tests/unit/endpoint_session.h"

#include "include/auger_client.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"
#include "views/exports/prometheus_protobuf.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <list>
#include <thread>

namespace auger {
namespace {

using test::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(EndpointTest, SamplesFromNowOnForAsLongAsAsked) {
    // What came before belongs to nobody who asks later.
    ASSERT_TRUE(test_.session.pump(std::chrono::seconds(1), -1));
    const uint64_t before = test_.model.samples_received();
    HttpClient client(address_);
    client.post("/sample", one_second);
    const uint64_t begin = test_.backend.clock();
    ASSERT_TRUE(answered(client));
    EXPECT_GE(test_.backend.clock() - begin, 1'000'000'000u);
    EXPECT_EQ(client.status(), 200) << client.answer();
    const std::string text = client.body();
    EXPECT_THAT(text, StartsWith("# auger: 1.00 s of wall-clock time (waits when they end), a "
                                 "sample of each thread every 10.0 ms\n"));
    EXPECT_GT(test_.model.samples_received(), before);
    // The fake samples one millisecond four times in 20; every tenth of them is 40 in a second.
    size_t samples = 0;
    for (size_t at = 0; (at = text.find("service 100/1 ", at)) != std::string::npos; at++)
        samples++;
    EXPECT_GT(samples, 0u);
    EXPECT_LE(samples, 100u);
    EXPECT_THAT(text, HasSubstr("ns::parse(int)"));
    // Sampling was for the client alone.
    EXPECT_THAT(test_.backend.log, ElementsAre("sample wall 999", "sample 0"));
}

TEST_F(EndpointTest, TheUsersOwnSamplingStays) {
    test_.run("sample 499");
    HttpClient client(address_);
    client.post("/sample", R"({"numberOfSamples":100,"timeInterval":"1 ms"})");
    ASSERT_TRUE(answered(client));
    EXPECT_THAT(client.body(), HasSubstr("of CPU time, a sample of each thread every 1.00 ms\n"
                                         "# the session samples at 499 Hz, which is less\n"));
    EXPECT_THAT(test_.backend.log, ElementsAre("sample 499"));
    // A user who begins while a client samples has it as asked for, and after it, too.
    test_.run("sample off");
    HttpClient other(address_);
    other.post("/sample", one_second);
    ASSERT_TRUE(work_until([&] { return test_.backend.log.back() == "sample wall 999"; }));
    test_.run("sample 99");
    ASSERT_TRUE(answered(other));
    EXPECT_THAT(test_.backend.log,
                ElementsAre("sample 499", "sample 0", "sample wall 999", "sample 99"));
}

TEST_F(EndpointTest, ProfilesFlamesMetricsAndStatus) {
    ASSERT_TRUE(test_.session.pump(std::chrono::seconds(1), -1));
    std::map<std::string, std::string> starts = {
        {"/debug/pprof/profile?seconds=1", "\x1f\x8b"}, // gzip
        {"/profile.otlp?seconds=1", "\x0a"},            // resource_profiles
        {"/flame.html", "<!doctype html>"},
        {"/metrics", "# HELP auger_call_duration_seconds"},
        {"/", "GET  /\n"},
    };
    for (const auto& [path, start] : starts) {
        HttpClient client(address_);
        client.get(path);
        ASSERT_TRUE(answered(client)) << path;
        EXPECT_EQ(client.status(), 200) << path;
        EXPECT_THAT(client.body(), StartsWith(start)) << path;
    }
    HttpClient scraper(address_);
    scraper.get("/metrics", std::string("Accept: ") + prometheus_protobuf_type + ";q=0.9\r\n");
    ASSERT_TRUE(answered(scraper));
    EXPECT_THAT(scraper.answer(),
                HasSubstr(std::string("Content-Type: ") + prometheus_protobuf_type + "\r\n"));
    EXPECT_THAT(scraper.body().substr(1, 100), HasSubstr("auger_call_duration_seconds"));
    HttpClient client(address_);
    client.get("/status");
    ASSERT_TRUE(answered(client));
    const auto status = nlohmann::json::parse(client.body(), nullptr, false);
    EXPECT_EQ(status.value("command", ""), "status");
    // As things were when it was answered.
    EXPECT_GE(status["calls"]["entries"], 1'000);
    EXPECT_LE(status["calls"]["entries"], test_.model.all_calls().entries);
}

TEST_F(EndpointTest, ProfilesHaveThreadsForWhoAsksForThem) {
    for (const bool threads : {false, true}) {
        HttpClient client(address_);
        client.get(fmt::format("/profile.otlp?seconds=1&threads={:d}", threads));
        ASSERT_TRUE(answered(client));
        EXPECT_EQ(client.body().find("thread.name") != std::string::npos, threads);
    }
}

class OwnProfile : public EndpointTest {
  protected:
    HttpClient& ask(const std::string& address, const std::string& path) {
        clients_.emplace_back(address);
        clients_.back().get(path);
        EXPECT_TRUE(answered(clients_.back())) << path;
        return clients_.back();
    }
    // As programs do, by the header that they have: the profile; or the error, and what is said.
    std::pair<int, std::string> ask_as_program(const char* format) {
        const UniqueFd file(memfd_create("profile", MFD_CLOEXEC));
        std::string text(1 << 16, '\0');
        int error = 0;
        std::atomic<bool> done = false;
        std::thread asking([&] {
            if (auger_profile_or_why(socket_.c_str(), 1, format, file.get(), text.data(),
                                     text.size()) < 0)
                error = errno;
            done = true;
        });
        EXPECT_TRUE(work_until([&] { return done.load(); }));
        asking.join();
        if (error != 0)
            return {error, text.c_str()};
        const ssize_t size = pread(file.get(), text.data(), text.size(), 0);
        return {0, text.substr(0, static_cast<size_t>(std::max<ssize_t>(size, 0)))};
    }
    TemporaryFolder folder_;
    std::string socket_ = "unix:" + folder_.path("s");

  private:
    std::list<HttpClient> clients_;
};

// A program that asks for its own gets no sample of the target's other processes.
TEST_F(OwnProfile, IsOfTheProcessThatAsks) {
    test_.backend.second_process = static_cast<uint32_t>(getpid());
    serve(socket_);
    const std::string whole = ask(socket_, "/profile.folded?seconds=1").body();
    EXPECT_THAT(whole, HasSubstr("ns::own(int)"));
    EXPECT_THAT(whole, HasSubstr("ns::parse(int)"));
    const auto pid = std::to_string(getpid());
    for (const std::string& mine : {std::string("self"), pid}) {
        HttpClient& client = ask(socket_, "/profile.folded?seconds=1&pid=" + mine);
        EXPECT_EQ(client.status(), 200) << client.answer();
        EXPECT_THAT(client.answer(), HasSubstr("Content-Type: text/plain"));
        EXPECT_THAT(client.body(), HasSubstr("ns::own(int)"));
        EXPECT_THAT(client.body(), Not(HasSubstr("ns::parse(int)")));
    }
    HttpClient other(socket_);
    other.post("/sample", R"({"numberOfSamples":100,"timeInterval":"10 ms","pid":4711})");
    ASSERT_TRUE(answered(other));
    EXPECT_EQ(other.status(), 200);
    EXPECT_THAT(other.body(), Not(HasSubstr("ns::own(int)")));
    HttpClient own(socket_);
    own.post("/sample", R"({"numberOfSamples":100,"timeInterval":"10 ms","pid":"self"})");
    ASSERT_TRUE(answered(own));
    EXPECT_THAT(own.body(), HasSubstr("ns::own(int)"));
    EXPECT_THAT(own.body(), Not(HasSubstr("ns::parse(int)")));
    // At a port nobody is known.
    EXPECT_EQ(ask(address_, "/profile.folded?seconds=1&pid=self").status(), 400);
    EXPECT_EQ(ask(address_, "/profile.folded?seconds=1&pid=" + pid).status(), 200);
}

TEST_F(OwnProfile, IsAskedForByPrograms) {
    serve(socket_);
    const auto refused = ask_as_program("pprof");
    EXPECT_EQ(refused.first, ESRCH);
    EXPECT_EQ(refused.second, "process " + std::to_string(getpid()) +
                                  " is not observed: it is not of the target's");
    test_.backend.second_process = static_cast<uint32_t>(getpid());
    for (const char* format : {"collapsed", "perf-script"}) {
        const auto [error, profile] = ask_as_program(format);
        EXPECT_EQ(error, 0) << profile;
        EXPECT_THAT(profile, HasSubstr("ns::own(int)")) << format;
        EXPECT_THAT(profile, Not(HasSubstr("ns::parse(int)"))) << format;
    }
    EXPECT_THAT(ask_as_program("pprof").second, StartsWith("\x1f\x8b"));
    EXPECT_THAT(ask_as_program("otlp").second, HasSubstr("ns::own(int)"));
    test_.run("serve off");
    EXPECT_EQ(ask_as_program("pprof").first, ENOENT);
}

// An empty profile would say that it has not run.
TEST_F(OwnProfile, IsNoneOfWhoIsNotObserved) {
    serve(socket_);
    test_.backend.log.clear();
    HttpClient& stranger = ask(socket_, "/profile.folded?seconds=1&pid=self");
    EXPECT_EQ(stranger.status(), 409);
    EXPECT_THAT(stranger.body(),
                HasSubstr("process " + std::to_string(getpid()) + " is not observed"));
    EXPECT_THAT(test_.backend.log, testing::IsEmpty()) << "it was sampled for nobody";
    EXPECT_EQ(ask(socket_, "/profile.folded?seconds=1&pid=4711").status(), 200);
    // A number is another process on another machine.
    test_.backend.observed_hosts.emplace_back();
    HttpClient& remote = ask(socket_, "/profile.folded?seconds=1&pid=4711");
    EXPECT_EQ(remote.status(), 409);
    EXPECT_THAT(remote.body(), HasSubstr("other machines"));
}

TEST_F(EndpointTest, WhatCannotBeDoneIsSaid) {
    HttpClient lacking(address_);
    lacking.get("/flame.html?class=slow");
    ASSERT_TRUE(answered(lacking));
    EXPECT_EQ(lacking.status(), 400);
    EXPECT_THAT(lacking.body(), HasSubstr("split"));
    test_.backend.failing.insert("sample");
    HttpClient failing(address_);
    failing.post("/sample", one_second);
    ASSERT_TRUE(answered(failing));
    EXPECT_EQ(failing.status(), 500);
    EXPECT_THAT(failing.body(), HasSubstr("refused"));
    test_.backend.failing.clear();
    test_.backend.is_replay = true;
    HttpClient recording(address_);
    recording.post("/sample", one_second);
    ASSERT_TRUE(answered(recording));
    EXPECT_EQ(recording.status(), 409);
}

// Each does what it can; the last one is a client like any other.
TEST_F(EndpointTest, HarmChangesNothingButItsOwnAnswer) {
    std::list<HttpClient> clients;
    const auto attack = [&](const std::string& bytes) -> HttpClient& {
        clients.emplace_back(address_);
        clients.back().say(bytes);
        return clients.back();
    };
    const std::string host = "Host: localhost\r\n";
    HttpClient& garbage = attack("\x16\x03\x01\x02\x01\xff garbage\r\n\r\n");
    HttpClient& no_host = attack("GET /status HTTP/1.1\r\n\r\n");
    HttpClient& long_line = attack("GET /" + std::string(200'000, 'x') + " HTTP/1.1\r\n" + host);
    HttpClient& long_header =
        attack("GET / HTTP/1.1\r\n" + host + "X: " + std::string(200'000, 'x') + "\r\n\r\n");
    HttpClient& large =
        attack("POST /sample HTTP/1.1\r\n" + host + "Content-Length: 1000000000000\r\n\r\n{");
    HttpClient& negative =
        attack("POST /sample HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n{}");
    HttpClient& chunked =
        attack("POST /sample HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n2000\r\n" +
               std::string(0x2000, ' ') + "\r\n0\r\n\r\n");
    for (int i = 0; i < 20; i++)
        attack("GET /status HTTP/1.1\r\n" + host); // never goes on
    for (int i = 0; i < 20; i++) {
        HttpClient gone(address_);
        gone.get("/flame.html"); // and does not listen
    }
    HttpClient good(address_);
    good.get("/status");
    ASSERT_TRUE(answered(good));
    EXPECT_EQ(good.status(), 200) << good.answer();
    for (HttpClient* refused :
         {&garbage, &no_host, &long_line, &long_header, &large, &negative, &chunked}) {
        ASSERT_TRUE(work_until([&] { return refused->closed() || refused->status() != 0; }));
        EXPECT_NE(refused->status(), 200) << refused->answer();
    }
    EXPECT_EQ(large.status(), 413);
    EXPECT_EQ(chunked.status(), 413);
}

TEST_F(EndpointTest, TooManyWaitInVain) {
    std::list<HttpClient> clients;
    for (int i = 0; i < 80; i++) {
        clients.emplace_back(address_);
        clients.back().post("/sample", one_second);
    }
    size_t busy = 0, served = 0;
    for (HttpClient& client : clients) {
        ASSERT_TRUE(answered(client));
        busy += client.status() == 503;
        served += client.status() == 200;
    }
    EXPECT_EQ(busy + served, clients.size());
    EXPECT_GE(served, 64u);
    EXPECT_GE(busy, 1u);
    HttpClient later(address_);
    later.get("/status");
    ASSERT_TRUE(answered(later));
    EXPECT_EQ(later.status(), 200);
}

TEST_F(EndpointTest, EndsWithItsClientsToldAndIsTakenBack) {
    HttpClient waiting(address_);
    waiting.post("/sample", R"({"numberOfSamples":600,"timeInterval":"1 s"})");
    ASSERT_TRUE(work_until([&] { return !test_.backend.log.empty(); }));
    EXPECT_THAT(test_.run("serve off"), HasSubstr("serving nowhere"));
    ASSERT_TRUE(answered(waiting));
    EXPECT_EQ(waiting.status(), 503);
    EXPECT_EQ(test_.backend.log.back(), "sample 0");
    EXPECT_FALSE(HttpClient(address_).connected());
    EXPECT_THAT(test_.run("undo"), HasSubstr("undid \"serve off\""));
    EXPECT_THAT(test_.run("serve"), HasSubstr("serving at http://127.0.0.1:"));
}

TEST_F(EndpointTest, AddressesAreSettings) {
    const TemporaryFolder folder;
    const std::string path = folder.path("a-{PID}.sock");
    EXPECT_THAT(test_.run("serve unix:" + path),
                HasSubstr("serving at unix:" + folder.path("a-4711.sock")));
    EXPECT_THAT(test_.run("serve 0.0.0.0:80"),
                HasSubstr("test.aug:1:7: error: \"0.0.0.0:80\": only this machine may connect"));
    EXPECT_EQ(test_.failure, Error::Kind::usage);
    EXPECT_THAT(test_.run("serve off 127.0.0.1:1"), HasSubstr("\"127.0.0.1:1\" is not served"));
    EXPECT_THAT(test_.run("serve unix:" + folder.path("none/s")), HasSubstr("No such file"));
    const std::string saved = folder.path("s.aug");
    test_.run("save " + saved);
    std::ifstream file(saved);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(text, HasSubstr("serve \"127.0.0.1:0\"\nserve \"unix:" + path + "\"\n"));
    EXPECT_THAT(test_.run("serve off \"unix:" + path + "\"; serve"),
                HasSubstr("\nserving at http://127.0.0.1:"));
    EXPECT_THAT(test_.run("serve"), Not(HasSubstr("unix:")));
}

// Whoever takes too long to ask, or to read the answer, gives the place to another.
TEST(HttpServer, SlowClientsHaveTheirTime) {
    auto socket = ListenSocket::open({ListenAddress::Kind::ipv4_loopback, "", 0});
    ASSERT_TRUE(socket);
    HttpLimits limits;
    limits.connections = 2;
    limits.idle_seconds = limits.request_seconds = limits.answer_seconds = 600;
    const std::string large(64 << 20, 'x'); // more than sockets hold
    auto server = HttpServer::start(
        socket->fd(),
        [&](const HttpRequest&) {
            return std::optional(HttpAnswer{200, large});
        },
        limits);
    ASSERT_TRUE(server);
    HttpClient asking(socket->text()), reading(socket->text());
    asking.say("GET / HTTP/1.1\r\nHost: ");
    reading.get("/"); // and reads nothing
    // The one that came first is known, too, then.
    ASSERT_TRUE(test::wait_until([&] { return (*server)->counts().answers[200] == 1; }));
    const auto now = std::chrono::steady_clock::now();
    (*server)->expire(now + std::chrono::seconds(500));
    EXPECT_FALSE(asking.closed());
    (*server)->expire(now + std::chrono::seconds(601));
    HttpClient next(socket->text());
    next.get("/");
    ASSERT_TRUE(test::wait_until([&] {
        (void)next.closed();
        return !next.answer().empty();
    }));
    EXPECT_EQ(next.status(), 200);
    EXPECT_TRUE(asking.closed());
}

// Nor has anybody to wait for theirs to be over: clients that take for ever to ask, more of them
// than there are places, leave one to whoever comes.
TEST(HttpServer, SlowClientsKeepNobodyOut) {
    auto socket = ListenSocket::open({ListenAddress::Kind::ipv4_loopback, "", 0});
    ASSERT_TRUE(socket);
    HttpLimits limits;
    limits.connections = 4;
    limits.idle_seconds = limits.request_seconds = limits.answer_seconds = 600;
    auto server = HttpServer::start(
        socket->fd(),
        [](const HttpRequest&) {
            return std::optional(HttpAnswer{200, "here"});
        },
        limits);
    ASSERT_TRUE(server);
    std::vector<std::unique_ptr<HttpClient>> slow;
    for (int i = 0; i < 190; i++) {
        slow.push_back(std::make_unique<HttpClient>(socket->text()));
        slow.back()->say("GET / HTTP/1.1\r\nHost: ");
    }
    HttpClient next(socket->text());
    next.get("/");
    ASSERT_TRUE(test::wait_until([&] { return next.closed(); }));
    EXPECT_EQ(next.body(), "here");
    EXPECT_TRUE(slow.front()->closed());
}

} // namespace
} // namespace auger
