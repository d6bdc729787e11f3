// SPDX-License-Identifier: GPL-3.0-or-later
// Exports as other people's programs read them: their totals must be ours, class by class.
#include "tests/importers/exported_model.h"
#include "views/frame_text.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

namespace auger::test {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST_F(Importers, GoToolPprof) {
    const std::string go = find_tool("go");
    if (go.empty())
        GTEST_SKIP() << "go is not installed (package golang-go)";
    const std::string file = write("pprof", "a.pb.gz");
    const Outcome raw = run({go, "tool", "pprof", "-raw", file});
    ASSERT_EQ(raw.code, 0) << raw.err;
    // "         3    3000000          0          0: 1 2 3", then its labels.
    const std::regex sample(R"(^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+): [\d ]+$)"),
        label(R"(class:\[(\w+)\])");
    std::map<std::string, double> cpu;
    std::istringstream lines(raw.out);
    double weight = 0;
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_match(line, match, sample))
            weight = std::stod(match[2]);
        else if (std::regex_search(line, match, label))
            cpu[match[1]] += std::exchange(weight, 0);
    }
    for (const CallClass one : {CallClass::slow, CallClass::fast, CallClass::outside})
        EXPECT_EQ(cpu[std::string(to_string(one))], ns(one)) << raw.out;
    // Labels filter, and names are there.
    const Outcome slow =
        run({go, "tool", "pprof", "-top", "-tagfocus=class=slow", "-nodefraction=0", file});
    EXPECT_THAT(slow.out, HasSubstr("{anonymous}::parse"));
    EXPECT_THAT(slow.out, Not(HasSubstr("idle")));
    EXPECT_THAT(run({go, "tool", "pprof", "-comments", file}).out, HasSubstr("lost: 3"));
    // As it stands, or behind what it is shortened to.
    for (const std::string& raw_name : nasty_names) {
        const std::string name = frame_text(raw_name);
        EXPECT_THAT(raw.out,
                    AnyOf(HasSubstr(" M=1 " + name + " /src/"), HasSubstr(" s=0(" + name + ")\n")));
    }
}

TEST_F(Importers, ChromiumClicksThroughTheFlamePage) {
    if (chromium.empty())
        GTEST_SKIP() << "chromium is not installed";
    std::ifstream script(std::string(AUGER_IMPORTERS_DIR) + "/clicks.js");
    const std::string clicks{std::istreambuf_iterator<char>(script), {}};
    StringSink sink;
    EXPECT_TRUE(find_export_format("html")->write(model, {}, sink));
    const std::string page =
        folder.file("a.html", sink.text + "<script>\n" + clicks + "</script>\n");
    const auto report = report_of("file://" + page);
    EXPECT_EQ(report["whole"], whole_ns());
    EXPECT_EQ(report["handle"], ns(CallClass::slow) + ns(CallClass::fast));
    EXPECT_THAT(report["under"], Contains("scan(std::vector<int>&)"));
    EXPECT_THAT(report["under"], Not(Contains("idle")));
    EXPECT_EQ(report["back"], whole_ns());
    // 70 ms of scans and 25 ms idle, of 175.
    EXPECT_EQ(report["found"], "54.3 % found");
    EXPECT_EQ(report["slow"], ns(CallClass::slow));
    EXPECT_EQ(report["fast"], ns(CallClass::fast));
    EXPECT_EQ(report["outside"], ns(CallClass::outside));
    EXPECT_THAT(report["difference"].get<std::string>(), HasSubstr("red"));
    EXPECT_EQ(report["pressed"], nlohmann::json({"difference"}));
    EXPECT_GT(report["colours"].get<int>(), 3);
    EXPECT_THAT(report["losses"].get<std::string>(), HasSubstr("lost: 3"));
}

} // namespace
} // namespace auger::test
