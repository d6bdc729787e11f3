// SPDX-License-Identifier: GPL-3.0-or-later
// Answers in JSON.
#include "tests/unit/repl_fake_backend.h"
#include "tests/unit/synthetic_stream.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace auger {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Session, EveryCommandAnswersInJson) {
    TestSession test(as_json());
    test.run("target 4711\nwait 1s");
    test.backend.running = {OpenCall{}};
    test.backend.threads = {ThreadNow{}};
    const std::string folded = testing::TempDir() + "auger_json.folded";
    const std::string script = testing::TempDir() + "auger_json.aug";
    fclose(fopen(script.c_str(), "w"));
    const std::vector<std::string> lines{"target 4711",
                                         "target",
                                         "filter tid 5",
                                         "filter",
                                         "exit auto",
                                         "sample",
                                         "overhead",
                                         "overhead 10",
                                         "window 10s",
                                         "ewma 5s",
                                         "window all",
                                         "time handle",
                                         "slow handle > 5ms",
                                         "split handle > 5ms",
                                         "wait 1s",
                                         "threshold handle 6ms",
                                         "flame",
                                         "flame slow",
                                         "flame --folded",
                                         "diff",
                                         "top",
                                         "threads",
                                         "functions",
                                         "functions handle sort p99 -n 3",
                                         "explain handle by parse, lookup",
                                         "explain",
                                         "explain off",
                                         "hist handle",
                                         "calls",
                                         "open",
                                         "stacks",
                                         "span request from f to g",
                                         "probes",
                                         "sites recv",
                                         "time --dry-run handle",
                                         "status",
                                         "record r",
                                         "record off",
                                         "save '" + folded + "'",
                                         "source '" + script + "'",
                                         "wait until calls handle >= 10",
                                         "assert lost == 0",
                                         "echo x",
                                         "only comm x and at main.cc:12",
                                         "only",
                                         "only handle if arg0 > 3",
                                         "trace handle if arg0 > 3 show off",
                                         "sample 4999 only in handle",
                                         "split at main.cc:12 by arg0",
                                         "flame slow+taken",
                                         "callers work slow",
                                         "callees main -n 5",
                                         "rewrite frame /x/ y",
                                         "drop frame /z/",
                                         "fold recursion",
                                         "rules",
                                         "rules off 1",
                                         "diff taken+=small not-taken+=small",
                                         "status",
                                         "unsplit",
                                         "serve",
                                         "ship",
                                         "on",
                                         "undo",
                                         "delete handle",
                                         "doctor",
                                         "suggest",
                                         "help",
                                         "help split",
                                         "quit"};
    SyntheticStream stream(test.model);
    stream.sample(1'000'000, 1, stream.stack({"main", "work"}));
    std::set<std::string> seen;
    for (const std::string& line : lines) {
        const std::string said = test.run(line);
        EXPECT_EQ(test.failure, std::nullopt) << line << said;
        EXPECT_FALSE(said.empty()) << line;
        for (size_t begin = 0; begin < said.size();) {
            const size_t end = said.find('\n', begin);
            ASSERT_NE(end, std::string::npos) << line;
            const auto object =
                nlohmann::json::parse(said.substr(begin, end - begin), nullptr, false);
            ASSERT_TRUE(object.is_object()) << said;
            EXPECT_EQ(object["schema"], 1);
            EXPECT_EQ(object["command"], line == "ewma 5s" ? "ewma" : object["command"]);
            seen.insert(object["command"]);
            begin = end + 1;
        }
    }
    for (const CommandRow& row : command_table().rows()) {
        if (row.name == "view") // there is none in JSON
            continue;
        EXPECT_THAT(seen, Contains(std::string(row.name)));
    }
}

TEST(Session, CollapsedStacksAreOneStringInJson) {
    TestSession text, json(as_json());
    text.run("target 4711\nsample\ntime handle\nwait 1s");
    json.run("target 4711\nsample\ntime handle\nwait 1s");
    const std::string folded = text.run("flame --folded");
    EXPECT_FALSE(folded.empty());
    EXPECT_EQ(nlohmann::json::parse(json.run("flame --folded"))["folded"], folded);
}

TEST(Session, ErrorsInJsonHaveTheirPlace) {
    TestSession test(as_json());
    const auto error = nlohmann::json::parse(
        test.run("echo ok\nsplit f > 5")
            .substr(
                std::string("{\"schema\":1,\"command\":\"echo\",\"message\":\"ok\"}\n").size()));
    EXPECT_EQ(error["schema"], 1);
    EXPECT_EQ(error["command"], "split");
    EXPECT_EQ(error["error"]["file"], "test.aug");
    EXPECT_EQ(error["error"]["line"], 2);
    EXPECT_EQ(error["error"]["column"], 11);
    EXPECT_EQ(error["error"]["message"], "\"5\" has no unit");
    EXPECT_THAT(std::string(error["error"]["hint"]), HasSubstr("5ms"));
}

} // namespace
} // namespace auger
