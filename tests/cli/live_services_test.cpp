// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that go on by themselves, and files of sessions, on a program that counts its calls.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/support/http_client.h"
#include "tests/support/run.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class LiveServices : public LiveTest {
  protected:
    std::vector<std::string> files(const std::string& folder, const std::string& end) {
        std::vector<std::string> found;
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path(folder), none))
            if (entry.path().string().ends_with(end) && !entry.is_symlink())
                found.push_back(entry.path());
        return found;
    }
};

TEST_F(LiveServices, AnswerRequestsAtEveryKindOfPlace) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid(), "--serve", "unix:" + folder_.path("a.sock")});
    auger.run({"time serve", "split serve > 3ms", "sample 4999"});
    see_all(auger, shop);
    auger.run({"sample off"});
    const std::string said = auger.ask("serve 127.0.0.1:0")["message"];
    const std::string port = said.substr(said.rfind(' ') + 1);
    for (const std::string& address : {port, "unix:" + folder_.path("a.sock")}) {
        const auto get = [&](const std::string& path) {
            HttpClient client(address);
            EXPECT_TRUE(client.connected()) << address;
            client.get(path);
            // auger answers between commands.
            EXPECT_TRUE(wait_until([&] { return client.closed(); })) << path;
            EXPECT_EQ(client.status(), 200) << path << client.answer();
            return client.body();
        };
        EXPECT_THAT(get("/metrics"),
                    HasSubstr(fmt::format(
                        "auger_calls_entered_total{{probe=\"serve\",function=\"serve\"}} {}\n",
                        shop.served())));
        // Histograms that a store can add to those of other hosts.
        const json hist = auger.ask("hist serve");
        const std::string metrics = get("/metrics");
        uint64_t bounds = 0;
        std::istringstream lines(metrics);
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with("auger_call_duration_seconds_bucket"))
                continue;
            bounds++;
            const std::string bound = line.substr(line.find("le=\"") + 4);
            double below = 0; // infinity, too
            for (const json& bucket : hist["buckets"])
                if (bucket[1].get<double>() < std::stod(bound) * 1e9 + 0.5)
                    below += bucket[2].get<double>();
            EXPECT_EQ(std::stod(line.substr(line.rfind(' '))), below) << line;
        }
        EXPECT_EQ(bounds, 55u);
        EXPECT_EQ(hist["count"], shop.served());
        EXPECT_THAT(metrics,
                    HasSubstr(fmt::format("auger_call_duration_seconds_count{{probe=\"serve\""
                                          ",function=\"serve\"}} {}\n",
                                          shop.served())));
        const json status = json::parse(get("/status"));
        EXPECT_EQ(status["calls"]["entries"], shop.served());
        EXPECT_THAT(get("/flame.html"), HasSubstr("\"search\""));
    }
    auger.run({"serve off"});
    EXPECT_FALSE(std::filesystem::exists(folder_.path("a.sock")));
    EXPECT_FALSE(HttpClient(port).connected());
}

TEST_F(LiveServices, RecordTheStreamIntervalsAndSlowCalls) {
    Shop shop;
    {
        LiveAuger auger({"--record", folder_.path("a.auger"), "-p", shop.pid()});
        auger.run({"time serve", "sample 4999",
                   "record " + folder_.path("intervals") + " every 1s keep 1 collapsed",
                   "on slow search > 1ms record last 10s in " + folder_.path("slow")});
        EXPECT_THAT(auger.ask("record").dump(), HasSubstr("recording to"));
        see_all(auger, shop);
        // More intervals than are kept, and one slow call.
        EXPECT_TRUE(wait_until([&] {
            auger.run({"wait 100ms"});
            const std::string lines = auger.ask("record").dump();
            const size_t at = lines.find(" written");
            return at != lines.npos && std::stoi(lines.substr(lines.rfind(' ', at - 1) + 1)) > 1;
        }));
        EXPECT_LE(files("intervals", ".folded").size(), 2u) << "one may just be being written";
        EXPECT_TRUE(wait_until([&] {
            auger.run({"wait 100ms"});
            return !files("slow", ".auger").empty();
        }));
        EXPECT_THAT(auger.ask("on").dump(), HasSubstr("search"));
        auger.run({"on slow search off"});
    }
    EXPECT_EQ(files("intervals", ".folded").size(), 1u);
    EXPECT_EQ(files("slow", ".auger").size(), 1u);
    const auto replay = [&](const std::string& path, const std::string& commands) {
        const Outcome outcome =
            test::auger({"--batch", "--json", "--replay", path, "-e", commands});
        EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
        auto answers = json_lines(outcome.out);
        // What was said while it was recorded, of a busy machine's overhead for one.
        std::erase_if(answers, [](const json& line) { return line["command"] == "notice"; });
        return answers;
    };
    const auto answers = replay(folder_.path("a.auger"), "hist serve; flame");
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0]["count"], shop.served());
    EXPECT_GT(cpu_ns_in(answers[1], "search"), 0);
    const auto calls = replay(files("slow", ".auger").at(0), "calls search -n 1");
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0]["stack"][0], "search");
}

// A recording that plays as fast as it was takes as long at least; or half of that.
TEST_F(LiveServices, RecordingsPlayAtASpeed) {
    using Clock = std::chrono::steady_clock;
    Shop shop;
    const std::string path = folder_.path("a.auger");
    Clock::duration recorded{};
    {
        LiveAuger auger({"-p", shop.pid()});
        auger.run({"time serve", "record " + path});
        const auto begin = Clock::now();
        auger.run({"wait 2s"});
        see_all(auger, shop);
        recorded = Clock::now() - begin;
        auger.run({"record off"});
    }
    for (const std::string speed : {"1", "2", "1000"}) {
        const auto begin = Clock::now();
        const Outcome outcome = test::auger(
            {"--batch", "--json", "--replay", path, "--speed", speed, "-e", "hist serve"});
        const auto took = Clock::now() - begin;
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        const auto answers = json_lines(outcome.out);
        EXPECT_EQ(answers.back()["count"], shop.served());
        EXPECT_GE(took, recorded / std::stoi(speed)) << speed;
    }
}

// What ran had no names; what is below the folder is the same program with them.
TEST_F(LiveServices, NamesThatARecordingLacksAreFoundBelowAFolder) {
    const std::string stripped = folder_.path("stripped"), root = folder_.path("root"),
                      path = folder_.path("a.auger");
    std::filesystem::copy_file(program_path("shop"), stripped);
    ASSERT_EQ(test::run({"/usr/bin/strip", stripped}).code, 0);
    std::filesystem::create_directories(root + folder_.path(""));
    std::filesystem::copy_file(program_path("shop"), root + stripped);
    Shop shop(stripped);
    {
        LiveAuger auger({"-p", shop.pid()});
        auger.run({"record " + path, "sample 4999"});
        shop.open();
        shop.close();
        auger.run({"sample off", "record off"});
        EXPECT_EQ(cpu_ns_in(auger.ask("flame"), "search"), 0);
    }
    const auto searched = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"--batch", "--json", "--replay", path, "-e", "flame"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = test::auger(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return cpu_ns_in(json_lines(outcome.out).back(), "search");
    };
    EXPECT_EQ(searched({}), 0);
    EXPECT_EQ(searched({"--sysroot", "/"}), 0) << "the same file, still without names";
    // Of n samples' worth of time five standard deviations are 5 / sqrt(n) of it.
    const double truth = 6e6 * static_cast<double>(shop.searches());
    EXPECT_NEAR(searched({"--sysroot", root}) / truth, 1, 5 / std::sqrt(truth / 1e9 * 4999) + 0.05);
}

// Recordings of intervals are one stream again, and each opens by itself.
TEST_F(LiveServices, RecordIntervalsThatAreOpenedAsOne) {
    Shop shop;
    const std::string folder = folder_.path("day");
    {
        LiveAuger auger({"-p", shop.pid()});
        auger.run({"time serve", "sample 4999", "record " + folder + " every 3s keep 1000 auger"});
        see_all(auger, shop);
        EXPECT_THAT(auger.ask("record").dump(), HasSubstr("as auger, the latest 1000 stay"));
        // The one that goes on is opened, too, when something is in it: it is written a second at
        // a time.
        Outcome now;
        EXPECT_TRUE(wait_until([&] {
            now = test::auger({"--batch", "--replay", folder, "-e", "status"});
            return now.code == 0;
        })) << now.err;
        EXPECT_THAT(now.out + now.err, HasSubstr("still recording"));
        now = test::auger({"--batch", "--replay", folder, "--from", "-1h", "-e", "status"});
        EXPECT_EQ(now.code, 0) << now.err;
        EXPECT_THAT(now.out + now.err, HasSubstr("it has no index; it is read whole"));
    }
    const auto hist = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--batch", "--json", "-e", "hist serve"});
        const Outcome outcome = test::auger(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
        auto answers = json_lines(outcome.out);
        std::erase_if(answers, [](const json& line) { return line["command"] == "notice"; });
        return answers.at(0)["count"].get<uint64_t>();
    };
    EXPECT_EQ(hist({"--replay", folder}), shop.served());
    EXPECT_EQ(hist({"--replay", folder, "--from", "+0s", "--to", "+2h"}), shop.served());
    EXPECT_EQ(hist({"--replay", folder, "--probe", "serve"}), shop.served());
    uint64_t apart = 0;
    for (const std::string& file : files("day", ".auger"))
        if (!std::filesystem::is_symlink(file))
            apart += hist({"--replay", file});
    EXPECT_EQ(apart, shop.served());
}

// A session's commands lead to it again, by -f and by `source`.
TEST_F(LiveServices, AreFilesOfCommands) {
    const std::string file = folder_.path("session.aug");
    {
        Shop shop;
        LiveAuger auger({"-p", shop.pid()});
        auger.run({"time ring", "slow search > 1ms", "split serve > 3ms by kind", "sample 99",
                   "save " + file});
    }
    // The target stands in it as it was typed: another one is to be named.
    std::string text = text_of(file);
    ASSERT_THAT(text, HasSubstr("target -p "));
    text.erase(text.find("target -p "),
               text.find('\n', text.find("target -p ")) - text.find("target -p ") + 1);
    std::ofstream(file) << text;
    for (const bool by_source : {false, true}) {
        Shop shop;
        std::vector<std::string> arguments{"-p", shop.pid()};
        if (!by_source)
            arguments.insert(arguments.end(), {"-e", "source " + file});
        LiveAuger auger(arguments);
        if (by_source)
            auger.run({"source " + file});
        see_all(auger, shop);
        EXPECT_EQ(auger.ask("hist serve")["count"], shop.served());
        EXPECT_EQ(auger.ask("hist ring")["count"], shop.account["rings"]);
        EXPECT_EQ(auger.all("calls search").size(), shop.searches());
    }
}

TEST_F(LiveServices, AScriptSaysWhatItIsToldAndEndsWhereItQuits) {
    Shop shop;
    const Outcome outcome =
        test::auger({"--batch", "-p", shop.pid(), "-e",
                     "time serve; echo the shop is watched; quit; echo nobody says this", "-e",
                     "echo nobody says this, either"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("the shop is watched\n"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("nobody says this")));
}

} // namespace
} // namespace auger::test
