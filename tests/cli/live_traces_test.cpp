// SPDX-License-Identifier: GPL-3.0-or-later
// Traces as somebody asks for them, on a program that says what its threads work for and hands the
// same to its functions.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <fmt/format.h>

#include <fstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

class LiveTraces : public LiveTest {
  protected:
    LiveTraces() { program_.wait_ready(); }

    std::string pid() const { return std::to_string(program_.pid()); }
    // All requests are answered, and auger knows of them.
    json answer_requests(LiveAuger& auger) {
        program_.go();
        const json account = program_.account();
        auger.run({"wait until entries handle >= " + account["handled"].dump() + " for 60s"});
        return account;
    }
    // As the program handed it over.
    static std::string trace_of(const json& values) {
        const auto half = [&](const char* name) {
            return std::stoull(values[name].get<std::string>(), nullptr, 0);
        };
        return half("arg0") ? fmt::format("{:016x}{:016x}", half("arg0"), half("arg1")) : "none";
    }

    Program program_{"context_linked_gnu2",
                     {"--calls", "40", "--threads", "2", "--publish", "--wait", "--linger"}};
};

TEST_F(LiveTraces, AreShownKeptAndSplitBy) {
    LiveAuger auger({"-p", pid()});
    auger.run({"slow handle > 1ns show trace, span_id, arg0, arg1", "only handle if trace != 0",
               "split handle by trace"});
    const json account = answer_requests(auger);
    const auto traced = account["traced"].get<uint64_t>();
    EXPECT_EQ(auger.ask("hist handle")["count"], traced);
    std::set<std::string> traces;
    for (const json& call : auger.all("calls handle")) {
        const json& values = call["values"];
        EXPECT_EQ(values["trace"], trace_of(values));
        traces.insert(values["trace"].get<std::string>());
    }
    EXPECT_EQ(traces.size(), traced);
    EXPECT_FALSE(traces.contains("none"));
    // One of them, by its name.
    const std::string one = *traces.begin();
    EXPECT_EQ(auger.all("calls handle =" + one).size(), 1u);

    for (const char* name : {"slow.calls.csv", "slow.calls.json", "slow.trace.json"}) {
        auger.run({"save " + folder_.path(name)});
        EXPECT_THAT(text_of(folder_.path(name)), HasSubstr(one)) << name;
    }
}

// Beside the parameters.
TEST_F(LiveTraces, AreShownByThemselves) {
    LiveAuger auger({"-p", pid()});
    auger.run({"slow handle > 1ns"});
    const json account = answer_requests(auger);
    uint64_t traced = 0;
    for (const json& call : auger.all("calls handle")) {
        const json& values = call["values"];
        EXPECT_EQ(values.contains("trace"), values["high"] != "0");
        EXPECT_EQ(values.contains("span_id"), values.contains("trace"));
        traced += values.contains("trace");
    }
    EXPECT_EQ(traced, account["traced"].get<uint64_t>());
}

TEST_F(LiveTraces, WhatCannotBeComparedIsRefusedAtTheWord) {
    const auto refused = [&](const std::string& line, const std::string& word,
                             const std::string& why) {
        const Outcome outcome = auger({"--batch", "-p", pid(), "-e", line});
        EXPECT_NE(outcome.code, 0) << line;
        const size_t column = line.find(word) + 1;
        EXPECT_THAT(outcome.err, HasSubstr("-e:1:" + std::to_string(column) + ": error: ")) << line;
        EXPECT_THAT(outcome.err, HasSubstr(why)) << line;
    };
    refused("only handle if trace > 0", "trace", "it is equal (==) or not (!=)");
    refused("only handle if trace == 17", "17", "no trace id");
    refused("slow handle > 1ms show trace + 1", "trace", "span_id is a number");
}

} // namespace
} // namespace auger::test
