// SPDX-License-Identifier: GPL-3.0-or-later
// The whole drill-down as a command file that people can read and run, on every build of the demo
// and on the C program. Each step asserts what it should find; here the last one is compared with
// the program's own log: which calls were late, and what they were asked for and got.
#include "tests/cli/invocation.h"
#include "tests/kernel/program.h"
#include "tests/kernel/source_lines.h"
#include "tests/support/kernel_test.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

namespace auger::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

struct Way {
    std::string program, script;
    std::vector<std::string> arguments;
    std::string sources, late_site; // file of the recv, and its marker
    std::string fetch, peer;
};

void PrintTo(const Way& way, std::ostream* out) {
    *out << way.program;
}

class Drilldown : public KernelTest, public testing::WithParamInterface<Way> {
  protected:
    std::vector<json> read_log() const {
        std::vector<json> lines;
        std::ifstream file(folder_.path("log"));
        for (std::string line; std::getline(file, line);)
            lines.push_back(json::parse(line));
        return lines;
    }
    TemporaryFolder folder_;
};

// The late recv as the program saw them: {tid, start, end, longest, requested, returned, waits}.
json late_receptions(const std::vector<json>& log, uint64_t threshold_ns) {
    json all = json::array();
    for (const json& line : log) {
        if (line.contains("amount") && line["amount"]["longest_ns"] > threshold_ns)
            all.push_back({{"tid", line["tid"]},
                           {"start", line["start"]},
                           {"end", line["end"]},
                           {"longest", line["amount"]["longest_ns"]},
                           {"requested", line["amount"]["requested"]},
                           {"returned", line["amount"]["returned"]},
                           {"waits", line["amount"]["waits"]}});
        const bool is_site = line.contains("site") && line["site"] == "amount";
        if (is_site && line["end"].get<uint64_t>() - line["start"].get<uint64_t>() > threshold_ns)
            all.push_back({{"tid", line["tid"]},
                           {"start", line["start"]},
                           {"end", line["end"]},
                           {"longest", line["end"].get<uint64_t>() - line["start"].get<uint64_t>()},
                           {"requested", line["requested"]},
                           {"returned", line["returned"]},
                           {"waits", line["waits"]}});
    }
    return all;
}

TEST_P(Drilldown, FindsWhatTheProgramKnows) {
    const Way& way = GetParam();
    std::vector<std::string> arguments{"--batch", "--json",
                                       "-f",      std::string(AUGER_SOURCE_DIR) + "/" + way.script,
                                       "--",      program_path(way.program)};
    arguments.insert(arguments.end(), way.arguments.begin(), way.arguments.end());
    arguments.insert(arguments.end(), {"--log", folder_.path("log")});
    const Outcome outcome = auger(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;

    const std::string site = "recv@" + marked_line(way.sources, way.late_site);
    json account;
    std::vector<json> calls;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        const json object = json::parse(line, nullptr, false);
        if (object.is_object() && object.value("command", "") == "calls" && object["probe"] == site)
            calls.push_back(object);
        if (object.is_object() && object.contains("program"))
            account = object;
    }
    // The program was ended in good order, and nobody had harmed it.
    ASSERT_TRUE(account.is_object()) << outcome.out;
    EXPECT_TRUE(account["ok"].get<bool>()) << account;
    ASSERT_EQ(calls.size(), 3u);

    const json truth = late_receptions(read_log(), 1'000'000);
    ASSERT_GE(truth.size(), 5u);
    size_t with_peer = 0;
    for (const json& call : calls) {
        SCOPED_TRACE(call.dump());
        const uint64_t start = call["start"], duration = call["duration"];
        const auto known = std::find_if(truth.begin(), truth.end(), [&](const json& one) {
            return one["tid"] == call["tid"] && one["start"] <= start &&
                   one["end"] >= start + duration;
        });
        ASSERT_NE(known, truth.end());
        EXPECT_GT(duration, 1'000'000u);
        EXPECT_LE(duration, (*known)["longest"].get<uint64_t>());
        const json& values = call["values"];
        EXPECT_EQ(values["len"], std::to_string((*known)["requested"].get<uint64_t>()));
        EXPECT_EQ(values["ret"], std::to_string((*known)["returned"].get<int64_t>()));
        with_peer += values["fd"].get<std::string>().find(way.peer) != std::string::npos;
        // It waited for the peer; or the answer was there already, and the thread was kept off its
        // CPU: by others, which shows as runnable, or by the machine's host, which nothing shows.
        // Which of the two it was the program knows by the kernel's count of its waits.
        if ((*known)["waits"] == 0) {
            EXPECT_TRUE(call["longest_wait"].is_null());
            EXPECT_EQ(call["blocked"], 0);
        } else {
            ASSERT_FALSE(call["longest_wait"].is_null());
            EXPECT_THAT(call["longest_wait"]["what"].get<std::string>(), StartsWith("recvfrom("));
            EXPECT_GT(call["blocked"], 0);
        }
        ASSERT_GE(call["stack"].size(), 2u);
        EXPECT_THAT(call["stack"][1].get<std::string>(), HasSubstr(way.fetch));
    }
    // The programs keep their connections.
    EXPECT_EQ(with_peer, calls.size());
}

const std::vector<std::string> load{"--rate", "800", "--seconds", "120"};

INSTANTIATE_TEST_SUITE_P(
    Programs, Drilldown,
    testing::Values(Way{"demo_service", "demo/drilldown.aug", load, "demo/quota.cpp", "RECV amount",
                        "fetch_quota", "tcp 127.0.0.1:"},
                    Way{"demo_service_o2", "demo/drilldown.aug", load, "demo/quota.cpp",
                        "RECV amount", "fetch_quota", "tcp 127.0.0.1:"},
                    Way{"demo_service_stripped", "demo/drilldown.aug", load, "demo/quota.cpp",
                        "RECV amount", "fetch_quota", "tcp 127.0.0.1:"},
                    Way{"drilldown",
                        "tests/programs/drilldown.aug",
                        {},
                        "drilldown.c",
                        "RECV amount",
                        "fetch",
                        "unix"}),
    [](const auto& info) { return info.param.program; });

// The command files name lines by number, as people do: they must be those that the sources mark.
TEST(DrilldownFiles, NameTheLinesThatAreMarked) {
    const auto text_of = [](const char* path) {
        std::ifstream file(std::string(AUGER_SOURCE_DIR) + "/" + path);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const std::string demo = text_of("demo/drilldown.aug"),
                      c = text_of("tests/programs/drilldown.aug");
    EXPECT_THAT(demo, HasSubstr("only at " + marked_line("demo/service.cpp", "BRANCH metered")));
    EXPECT_THAT(demo, HasSubstr("time recv@" + marked_line("demo/quota.cpp", "RECV found")));
    EXPECT_THAT(demo, HasSubstr("slow recv@" + marked_line("demo/quota.cpp", "RECV amount")));
    EXPECT_THAT(c, HasSubstr("only at " + marked_line("drilldown.c", "BRANCH metered")));
    EXPECT_THAT(c, HasSubstr("time recv@" + marked_line("drilldown.c", "RECV found")));
    EXPECT_THAT(c, HasSubstr("slow recv@" + marked_line("drilldown.c", "RECV amount")));
    EXPECT_THAT(c, HasSubstr("slow recv@" + marked_line("drilldown.c", "RECV extra")));
}

} // namespace
} // namespace auger::test
