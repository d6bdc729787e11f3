// SPDX-License-Identifier: GPL-3.0-or-later
// Who may ask the endpoint, how much they may have, and what is said of it afterwards.
#include "tests/support/asked_by_nobody.h"
#include "tests/support/invoking_user.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"
#include "tests/unit/endpoint_session.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <list>

namespace auger {
namespace {

using test::asked_by_nobody;
using test::TemporaryFolder;
using testing::Contains;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class EndpointAccess : public EndpointTest {
  protected:
    static std::string token_in(const std::string& url) { return HttpClient(url).token; }
    static std::string without_token(const std::string& url) {
        return url.substr(0, url.rfind('/'));
    }
    unsigned status_of(const std::string& address, const std::string& token,
                       const std::string& path = "/status", const std::string& headers = {}) {
        HttpClient client(address);
        client.token = token;
        client.get(path, headers);
        EXPECT_TRUE(answered(client));
        return static_cast<unsigned>(client.status());
    }
    nlohmann::json clients() {
        HttpClient client(address_);
        client.get("/status");
        EXPECT_TRUE(answered(client));
        return nlohmann::json::parse(client.body(), nullptr, false)["clients"];
    }
};

TEST_F(EndpointAccess, APortNeedsItsToken) {
    EXPECT_THAT(address_, MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/\\?token=[0-9a-f]{32}"));
    const std::string token = token_in(address_);
    HttpClient without(without_token(address_));
    without.post("/sample", one_second);
    ASSERT_TRUE(answered(without));
    EXPECT_EQ(without.status(), 401);
    EXPECT_THAT(without.body(), HasSubstr("`serve` in auger's console says the URL"));
    EXPECT_THAT(without.answer(), HasSubstr("WWW-Authenticate: Bearer\r\n"));
    EXPECT_THAT(without.answer(), Not(HasSubstr(token)));
    std::string other = token;
    other.back() = other.back() == '0' ? '1' : '0';
    for (const std::string& wrong :
         {other, token.substr(1), token.substr(0, 31), token + "0", std::string(32, '0')}) {
        EXPECT_EQ(status_of(address_, wrong), 401u) << wrong;
        EXPECT_EQ(status_of(address_, "", "/status?token=" + wrong), 401u) << wrong;
        EXPECT_EQ(status_of(address_, wrong, "/no/such"), 401u) << wrong;
    }
    EXPECT_EQ(status_of(address_, "", "/status?token="), 401u);
    EXPECT_EQ(status_of(address_, "", "/status", "Authorization: Basic " + token + "\r\n"), 401u);
    EXPECT_THAT(test_.backend.log, testing::IsEmpty()) << "something was done for them";

    EXPECT_EQ(status_of(address_, token), 200u);
    EXPECT_EQ(status_of(address_, "", "/status?token=" + token), 200u);
    EXPECT_EQ(status_of(address_, "", "/flame.html?window=10s&token=" + token), 200u);
    EXPECT_EQ(status_of(address_, "", "/status", "authorization: bearer " + token + "\r\n"), 200u);
}

TEST_F(EndpointAccess, EachServingHasANewToken) {
    const std::string second = serve("127.0.0.1:0 ; serve off ; serve 127.0.0.1:0");
    EXPECT_NE(token_in(second), token_in(address_));
    EXPECT_EQ(status_of(second, token_in(address_)), 401u);
    EXPECT_EQ(status_of(second, token_in(second)), 200u);
}

class TokenFiles : public EndpointAccess {
  protected:
    // What is said of a file that is not taken.
    std::string refusal(const std::string& name) {
        return test_.run("serve 127.0.0.1:0 token " + folder_.path(name));
    }
    static std::string token_of(const std::string& file) {
        const std::string text = text_of(file);
        EXPECT_TRUE(text.ends_with('\n'));
        return text.substr(0, text.find('\n'));
    }
    TemporaryFolder folder_;
};

TEST_F(TokenFiles, AreMadeForTheUserAloneAndRead) {
    test_.run("serve off");
    const std::string path = folder_.path("token");
    const std::string first = serve("127.0.0.1:0 token " + path);
    // What auger prints may go to a log.
    EXPECT_THAT(first, Not(HasSubstr("token")));
    const std::string token = token_of(path);
    EXPECT_THAT(token, MatchesRegex("[0-9a-f]{32}"));
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(status_of(first, token), 200u);
    // As after a restart.
    test_.run("serve off");
    EXPECT_EQ(status_of(serve("127.0.0.1:0 token " + path), token), 200u);
    EXPECT_EQ(token_of(path), token);
    // It is a setting: saved by its name, and taken back.
    const std::string saved = folder_.path("s.aug");
    test_.run("save " + saved);
    EXPECT_THAT(text_of(saved), HasSubstr("token \"" + path + "\""));
    EXPECT_THAT(text_of(saved), Not(HasSubstr(token)));
    // One of a user's own making, and an empty file.
    folder_.file("mine", "abcdefghijklmnopqrstuv-_\n\n");
    ASSERT_EQ(chmod(folder_.path("mine").c_str(), 0640), 0);
    test_.run("serve off");
    EXPECT_EQ(
        status_of(serve("127.0.0.1:0 token " + folder_.path("mine")), "abcdefghijklmnopqrstuv-_"),
        200u);
    folder_.file("empty", "");
    ASSERT_EQ(chmod(folder_.path("empty").c_str(), 0600), 0);
    test_.run("serve off");
    const std::string filled = serve("127.0.0.1:0 token " + folder_.path("empty"));
    EXPECT_EQ(status_of(filled, token_of(folder_.path("empty"))), 200u);
}

TEST_F(TokenFiles, OfAPortThatIsServedAlready) {
    const std::string path = folder_.path("token");
    const std::string same = serve("127.0.0.1:0 token " + path);
    EXPECT_EQ(without_token(same), without_token(address_));
    EXPECT_EQ(status_of(address_, token_in(address_)), 401u);
    EXPECT_EQ(status_of(same, token_of(path)), 200u);
}

TEST_F(TokenFiles, OthersAreRefusedAndStayAsTheyAre) {
    test_.run("serve off");
    const auto put = [&](const std::string& name, const std::string& text, mode_t mode) {
        folder_.file(name, text);
        ASSERT_EQ(chmod(folder_.path(name).c_str(), mode), 0);
    };
    const std::string token = std::string(32, 'a');
    put("open", token, 0644);
    put("shared", token, 0660);
    put("short", "abc", 0600);
    put("lines", token + "\n" + token, 0600);
    put("long", std::string(1000, 'a'), 0600);
    put("html", token + "\"><script>", 0600);
    EXPECT_THAT(refusal("open"), HasSubstr("others may read or change it"));
    EXPECT_THAT(refusal("shared"), HasSubstr("others may read or change it"));
    for (const char* name : {"short", "lines", "long", "html"})
        EXPECT_THAT(refusal(name), HasSubstr("error")) << name;
    EXPECT_EQ(text_of(folder_.path("short")), "abc");
    std::filesystem::create_symlink(folder_.path("none"), folder_.path("link"));
    EXPECT_THAT(refusal("link"), HasSubstr("error"));
    EXPECT_FALSE(std::filesystem::exists(folder_.path("none")));
    ASSERT_EQ(mkfifo(folder_.path("fifo").c_str(), 0600), 0);
    EXPECT_THAT(refusal("fifo"), HasSubstr("is not a regular file"));
    EXPECT_THAT(test_.run("serve"), HasSubstr("serving nowhere"));
    EXPECT_THAT(test_.run("serve unix:" + folder_.path("s") + " token " + folder_.path("t")),
                HasSubstr("clients need no token"));
    EXPECT_THAT(test_.run("serve 127.0.0.1:0 token"), HasSubstr("a file"));
}

TEST_F(TokenFiles, AreOfWhoCalledSudo) {
    if (geteuid() != 0 || !getpwnam("nobody"))
        GTEST_SKIP() << "needs root and the user nobody";
    test_.run("serve off");
    folder_.file("roots", std::string(32, 'a'));
    ASSERT_EQ(chmod(folder_.path("roots").c_str(), 0600), 0);
    const test::AsCalledBySudo nobody("nobody");
    EXPECT_THAT(refusal("roots"), HasSubstr("Permission denied"));
    EXPECT_THAT(refusal("none"), HasSubstr("Permission denied"));
    ASSERT_EQ(chmod(folder_.path("").c_str(), 0777), 0);
    const std::string url = serve("127.0.0.1:0 token " + folder_.path("theirs"));
    struct stat status {};
    ASSERT_EQ(stat(folder_.path("theirs").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, nobody.uid);
    const std::string token = token_of(folder_.path("theirs"));
    EXPECT_EQ(status_of(url, token), 200u);
    // Theirs is as good on the next day; another's is not, however it is closed.
    ASSERT_EQ(chown(folder_.path("roots").c_str(), 1, 1), 0);
    test_.run("serve off");
    EXPECT_EQ(status_of(serve("127.0.0.1:0 token " + folder_.path("theirs")), token), 200u);
    EXPECT_THAT(refusal("roots"), HasSubstr("error"));
}

TEST_F(EndpointAccess, OtherUsersAreToldNothing) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root, to become another user";
    const TemporaryFolder folder;
    const std::string path = folder.path("s"), wide = folder.path("wide");
    serve("unix:" + path);
    serve("unix:" + wide);
    // Its owner has opened it to everybody.
    ASSERT_EQ(chmod(wide.c_str(), 0666), 0);
    EXPECT_EQ(asked_by_nobody({"unix:" + path, "unix:" + wide, without_token(address_)}),
              (std::vector<int>{-1, 0, 401}));
    EXPECT_EQ(status_of("unix:" + wide, ""), 200u);
    const auto refused = clients()["refused"];
    EXPECT_EQ(refused.value("other user", 0), 1);
    EXPECT_EQ(refused.value("no token", 0), 1);
}

// A service's user gets what its processes do themselves, and nothing else.
TEST_F(EndpointAccess, AUserThatASocketIsForAsksForItselfAlone) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root, to become another user";
    const TemporaryFolder folder;
    ASSERT_EQ(chmod(folder.path("").c_str(), 0755), 0);
    const std::string path = folder.path("s"), socket = "unix:" + path;
    EXPECT_THAT(test_.run("serve " + socket + " for no-such-user"),
                HasSubstr("error: \"no-such-user\""));
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_THAT(test_.run("serve 127.0.0.1:0 for 65534"), HasSubstr("by its token"));
    serve(socket + " for 65534");
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 65534u);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    const auto answer = [&](const std::string& request) {
        return asked_by_nobody({socket}, request);
    };
    for (const char* refused : {"/status", "/flame", "/metrics", "/profile.folded?seconds=1",
                                "/profile.folded?seconds=1&pid=1", "/debug/pprof/profile"})
        EXPECT_EQ(answer(refused), std::vector<int>{403}) << refused;
    EXPECT_EQ(answer("/profile.folded?seconds=1&pid=self"), std::vector<int>{-2}); // not refused
    EXPECT_EQ(status_of(socket, ""), 200u);
    // It is a setting, of one user.
    const std::string saved = folder.path("s.aug");
    test_.run("save " + saved);
    EXPECT_THAT(text_of(saved), HasSubstr(" for \"65534\""));
    EXPECT_THAT(test_.run("serve " + socket + " for 65533"), HasSubstr("is served for 65534"));
    test_.run("serve off");
    EXPECT_FALSE(std::filesystem::exists(path));
}

// Nor does it take the room of others.
TEST_F(EndpointAccess, AUserThatASocketIsForHasFewRequestsWaiting) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root, to become another user";
    const TemporaryFolder folder;
    ASSERT_EQ(chmod(folder.path("").c_str(), 0755), 0);
    const std::string socket = "unix:" + folder.path("s");
    serve(socket + " for 65534");
    std::vector<int> statuses =
        asked_by_nobody(std::vector(6, socket), "/profile.folded?seconds=600&pid=self", 2);
    std::ranges::sort(statuses);
    EXPECT_EQ(statuses, (std::vector<int>{-2, -2, -2, -2, 503, 503}));
    EXPECT_EQ(status_of(address_, token_in(address_)), 200u);
}

TEST_F(EndpointAccess, ClientsHaveTheirMost) {
    const auto ask = [&](const char* interval) {
        auto client = std::make_unique<HttpClient>(address_);
        client->post("/sample",
                     fmt::format(R"({{"numberOfSamples":100,"timeInterval":"{}"}})", interval));
        EXPECT_TRUE(answered(*client));
        return client;
    };
    const auto fast = ask("100 us");
    EXPECT_EQ(fast->status(), 400);
    EXPECT_THAT(fast->body(), HasSubstr("timeInterval is at least 1.00 ms here"));
    EXPECT_THAT(fast->body(), HasSubstr("999 Hz at most"));
    EXPECT_THAT(test_.backend.log, testing::IsEmpty());
    EXPECT_EQ(ask("1 ms")->status(), 200);
    EXPECT_THAT(test_.backend.log, testing::ElementsAre("sample wall 999", "sample 0"));
    // As much as the user has, and no more.
    test_.run("sample 9999");
    EXPECT_EQ(ask("100 us")->status(), 200);
    EXPECT_EQ(ask("50 us")->status(), 400);
    EXPECT_EQ(test_.backend.log.back(), "sample 9999");
}

// Of all addresses together.
TEST_F(EndpointAccess, NoMoreWaitThanThereIsRoomFor) {
    const std::string other = serve("localhost:0");
    std::list<HttpClient> all;
    for (int i = 0; i < 60; i++)
        for (const std::string& address : {address_, other}) {
            all.emplace_back(address);
            all.back().post("/sample", one_second);
        }
    // Who is turned away is told at once. Until they are all there no time passes for the session:
    // the first to be served makes room for another.
    ASSERT_TRUE(test::wait_until([&] {
        (void)test_.session.pump({}, -1);
        return std::ranges::count_if(all, [](HttpClient& one) { return one.closed(); }) >= 120 - 64;
    }));
    size_t busy = 0, served = 0;
    for (HttpClient& client : all) {
        ASSERT_TRUE(answered(client));
        busy += client.status() == 503;
        served += client.status() == 200;
    }
    EXPECT_EQ(busy + served, all.size());
    EXPECT_EQ(served, 64u);
}

// An answer costs a fork: there are twenty a second, whatever is asked.
TEST_F(EndpointAccess, WritersComeOneAfterTheOther) {
    std::list<HttpClient> all;
    for (int i = 0; i < 30; i++) {
        all.emplace_back(address_);
        all.back().get("/status");
    }
    const auto begin = std::chrono::steady_clock::now();
    for (HttpClient& client : all)
        ASSERT_TRUE(answered(client));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(29 * 50));
}

TEST_F(EndpointAccess, StatusSaysWhatClientsTook) {
    EXPECT_THAT(test_.run("status"), HasSubstr("clients     0 answered"));
    HttpClient client(address_);
    client.post("/sample", one_second);
    ASSERT_TRUE(answered(client));
    EXPECT_EQ(status_of(without_token(address_), ""), 401u);
    EXPECT_EQ(status_of(without_token(address_), ""), 401u);
    EXPECT_EQ(status_of(address_, token_in(address_), "/no/such"), 404u);
    const auto status = clients();
    EXPECT_EQ(status["answered"], 1);
    EXPECT_EQ(status["refused"].value("no token", 0), 2);
    EXPECT_EQ(status["refused"].value("wrong request", 0), 1);
    EXPECT_GE(status["sampled"], 1'000'000'000);
    EXPECT_LE(status["sampled"], 1'100'000'000);
    EXPECT_GT(status["cpu"], 0);
    // Not of what the user samples.
    test_.run("sample 99");
    HttpClient second(address_);
    second.post("/sample", one_second);
    ASSERT_TRUE(answered(second));
    EXPECT_EQ(clients()["sampled"], status["sampled"]);
    // And still when nobody is served any more.
    const std::string said = test_.run("serve off; status");
    EXPECT_THAT(said, HasSubstr("clients     4 answered, which took "));
    EXPECT_THAT(said, HasSubstr(" of CPU time; 1.0"));
    EXPECT_THAT(said, HasSubstr("2 refused: no token"));
}

} // namespace
} // namespace auger
