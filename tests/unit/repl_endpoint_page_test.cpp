// SPDX-License-Identifier: GPL-3.0-or-later
// The live page: its files, what they ask for, and the events by which it learns that there is
// more.
#include "tests/unit/endpoint_session.h"

#include "repl/services/page_files.h"
#include "tests/support/wait.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <list>
#include <regex>
#include <set>

namespace auger {
namespace {

using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* as_browser = "Accept: text/html,*/*\r\n";

class EndpointPage : public EndpointTest {
  protected:
    std::string without_token() const { return address_.substr(0, address_.rfind('/')); }
    HttpClient& ask(const std::string& address, const std::string& path,
                    const std::string& headers = {}) {
        clients_.emplace_back(address);
        clients_.back().get(path, headers);
        EXPECT_TRUE(answered(clients_.back())) << path;
        return clients_.back();
    }
    nlohmann::json object(const std::string& path) {
        HttpClient& client = ask(address_, path);
        EXPECT_EQ(client.status(), 200) << path << ": " << client.answer();
        EXPECT_THAT(client.answer(), HasSubstr("Content-Type: application/json\r\n")) << path;
        return nlohmann::json::parse(client.body(), nullptr, false);
    }
    // Of a stream: the last event that has come whole, or nothing.
    static nlohmann::json last_event(HttpClient& client) {
        (void)client.closed();
        const std::string& text = client.answer();
        const size_t end = text.rfind("}\n\n");
        if (end == std::string::npos)
            return nullptr;
        const size_t begin = text.rfind("data: ", end) + 6;
        return nlohmann::json::parse(text.substr(begin, end + 1 - begin), nullptr, false);
    }
    bool has_event(HttpClient& client) {
        return work_until([&] { return last_event(client).is_object(); });
    }

  private:
    std::list<HttpClient> clients_;
};

// It is the same in every session; what it shows has a token.
TEST_F(EndpointPage, IsThereForABrowserAndHoldsNothing) {
    const HttpClient& page = ask(without_token(), "/", as_browser);
    EXPECT_EQ(page.status(), 200);
    EXPECT_THAT(page.answer(), HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
    EXPECT_THAT(page.body(), HasSubstr("/main.js"));
    EXPECT_THAT(page.answer(), Not(HasSubstr("4711")));
    for (const PageFile& file : page_files()) {
        const HttpClient& part = ask(without_token(), std::string(file.path));
        EXPECT_EQ(part.status(), 200) << file.path;
        EXPECT_EQ(part.body(), file.text) << file.path;
        EXPECT_THAT(part.answer(), HasSubstr("Content-Security-Policy: default-src 'none'; "
                                             "script-src 'self'; style-src 'self'; "
                                             "connect-src 'self'; "));
        EXPECT_THAT(part.answer(), HasSubstr("X-Content-Type-Options: nosniff\r\n"));
        EXPECT_THAT(part.answer(), HasSubstr("Referrer-Policy: no-referrer\r\n"));
        EXPECT_THAT(part.answer(), AnyOf(HasSubstr("Content-Type: text/html;"),
                                         HasSubstr("Content-Type: text/css;"),
                                         HasSubstr("Content-Type: text/javascript;")));
    }
    for (const char* path : {"/", "/flame", "/top", "/diff", "/hist?probe=1", "/calls", "/events",
                             "/status", "/main.js/../status"})
        EXPECT_EQ(ask(without_token(), path).status(), 401) << path;
    EXPECT_THAT(ask(address_, "/").body(), HasSubstr("/events\n"));
    // Another site's page that has made its name mean this machine.
    HttpClient rebound(without_token());
    rebound.say("GET / HTTP/1.1\r\nHost: example.com\r\nAccept: text/html\r\n"
                "Connection: close\r\n\r\n");
    ASSERT_TRUE(answered(rebound));
    EXPECT_EQ(rebound.status(), 401);
}

// Its own files are all that it has; and names are text, whatever is in them.
TEST_F(EndpointPage, AsksNobodyElseAndWritesTextOnly) {
    std::set<std::string> there, named;
    for (const PageFile& file : page_files()) {
        there.emplace(file.path);
        const std::string text(file.text);
        for (const char* never : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                                  "eval(", "new Function", "http:", "https:", " style=",
                                  " onclick=", "createContextualFragment", "DOMParser"})
            EXPECT_THAT(text, Not(HasSubstr(never))) << file.path;
        EXPECT_THAT(text, Not(ContainsRegex("<script>"))) << file.path;
        const std::regex name(R"re((?:from "\.|src="|href=")(/[a-z_]+\.[a-z]+)")re");
        for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at)
            named.insert((*at)[1]);
    }
    named.insert("/index.html");
    EXPECT_EQ(named, there);
}

TEST_F(EndpointPage, WhatItShowsIsJson) {
    ASSERT_TRUE(test_.session.pump(std::chrono::seconds(1), -1));
    EXPECT_EQ(object("/flame")["command"], "flame");
    EXPECT_FALSE(object("/flame")["functions"].empty());
    EXPECT_THAT(object("/top?rows=1")["functions"], SizeIs(1));
    EXPECT_EQ(object("/hist?probe=1")["probe"], "handle");
    EXPECT_EQ(ask(address_, "/hist?probe=77").status(), 404);
    EXPECT_EQ(ask(address_, "/calls?probe=77").status(), 404);
    EXPECT_THAT(ask(address_, "/diff").body(), HasSubstr("split"));
    EXPECT_EQ(ask(address_, "/diff").status(), 400);
    test_.run("split handle > 5ms");
    ASSERT_TRUE(test_.session.pump(std::chrono::seconds(1), -1));
    EXPECT_EQ(object("/diff")["command"], "diff");
    EXPECT_EQ(object("/flame?class=slow")["class"], "slow");
    EXPECT_THAT(ask(address_, "/calls").answer(), HasSubstr("Content-Type: application/x-ndjson"));
}

TEST_F(EndpointPage, EventsTellThatThereIsMore) {
    HttpClient client(address_);
    client.get("/events");
    ASSERT_TRUE(has_event(client));
    EXPECT_EQ(client.status(), 200);
    EXPECT_THAT(client.answer(), HasSubstr("Content-Type: text/event-stream\r\n"));
    const auto first = last_event(client);
    EXPECT_EQ(first["command"], "summary");
    EXPECT_EQ(first["processes"], 1);
    EXPECT_EQ(first["target"][0], "se\\x1brver");
    EXPECT_THAT(first["probes"], SizeIs(1));
    test_.run("time hand_over");
    ASSERT_TRUE(work_until([&] { return last_event(client)["probes"].size() == 2; }));
    EXPECT_GT(last_event(client)["calls"], first["calls"]);
    EXPECT_THAT(test_.run("status"), HasSubstr("clients     1 answered"));
}

// Pages that stay, as many as there may be, are no requests that wait.
TEST_F(EndpointPage, StreamsKeepNobodyOut) {
    std::list<HttpClient> pages;
    for (size_t i = 0; i < HttpLimits{}.streams; i++) {
        pages.emplace_back(address_);
        pages.back().get("/events");
    }
    for (HttpClient& page : pages)
        ASSERT_TRUE(has_event(page));
    EXPECT_EQ(ask(address_, "/events").status(), 503);
    EXPECT_EQ(ask(address_, "/status").status(), 200);
    // One that has gone leaves its place.
    pages.pop_front();
    ASSERT_TRUE(work_until([&] {
        HttpClient next(address_);
        next.get("/events");
        return work_until([&] {
                   (void)next.closed();
                   return next.status() != 0;
               }) &&
               next.status() == 200;
    }));
}

TEST_F(EndpointPage, EndsWithItsStreams) {
    HttpClient reading(address_), deaf(address_);
    reading.get("/events");
    deaf.get("/events");
    ASSERT_TRUE(has_event(reading));
    EXPECT_THAT(test_.run("serve off"), HasSubstr("serving nowhere"));
    EXPECT_TRUE(answered(reading));
    EXPECT_TRUE(answered(deaf));
    EXPECT_FALSE(HttpClient(address_).connected());
}

// Who reads nothing is dropped, while another has every event that it comes for.
TEST(HttpServer, StreamsThatNobodyReadsEnd) {
    auto socket = ListenSocket::open({ListenAddress::Kind::ipv4_loopback, "", 0});
    ASSERT_TRUE(socket);
    HttpLimits limits;
    limits.idle_seconds = 1;
    auto server = HttpServer::start(
        socket->fd(),
        [](const HttpRequest&) {
            return std::optional(HttpAnswer{.events = true, .type = "text/event-stream"});
        },
        limits);
    ASSERT_TRUE(server);
    HttpClient reading(socket->text()), deaf(socket->text());
    reading.get("/");
    deaf.get("/");
    ASSERT_TRUE(test::wait_until([&] { return (*server)->streams() == 2; }));
    const std::string large(1 << 20, 'x');
    size_t events = 0;
    EXPECT_TRUE(test::wait_until([&] {
        (*server)->publish("data: " + large + std::to_string(++events) + "\n\n");
        (void)reading.closed();
        return (*server)->streams() == 1;
    }));
    (*server)->publish("data: the last\n\n");
    EXPECT_TRUE(test::wait_until([&] {
        EXPECT_FALSE(reading.closed());
        return reading.answer().ends_with("data: the last\n\n") ||
               reading.answer().ends_with("data: the last\n\n\r\n");
    }));
    server->reset();
    EXPECT_TRUE(reading.closed());
}

} // namespace
} // namespace auger
