// SPDX-License-Identifier: GPL-3.0-or-later
// Exports as other people's programs read them: their totals must be ours, class by class.
#include "tests/support/run.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/synthetic_stream.h"
#include "views/exports/export.h"
#include "views/model/account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <array>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

namespace auger::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t ms = 1'000'000;

std::string find_tool(const std::string& name) {
    for (const char* folder : {"/usr/bin/", "/usr/local/bin/", "/usr/local/go/bin/"})
        if (access((folder + name).c_str(), X_OK) == 0)
            return folder + name;
    return {};
}

class Importers : public testing::Test {
  protected:
    Importers() {
        const SpecId handle = stream.probe(1, "handle");
        stream.split(1, stream.fixed(5 * ms));
        uint64_t now = 10 * ms;
        for (int i = 0; i < 40; i++) {
            const bool slow = i % 4 == 0;
            const uint64_t duration = slow ? 9 * ms : 2 * ms;
            const CallKey call = stream.call(handle, now);
            for (uint64_t at = 0; at < duration; at += ms)
                stream.sample(now + at, 101,
                              stream.stack({"_start", "handle",
                                            slow && at > ms ? "scan(std::vector<int>&)"
                                                            : "(anonymous namespace)::parse"}),
                              {call}, ms);
            stream.end(101, call, duration);
            stream.stats(now + duration, handle, {duration});
            now += 20 * ms;
        }
        for (int i = 0; i < 25; i++)
            stream.sample(now + i, 102, stream.stack({"_start", "idle"}), {}, ms);
        stream.ledger(now + ms, 0, 3);
    }
    // The path of a file in the format.
    std::string write(std::string_view format, const std::string& name) {
        StringSink sink;
        EXPECT_TRUE(find_export_format(format)->write(model, {}, sink));
        return folder.file(name, sink.text);
    }
    double ns(CallClass one) const { return make_account(model).classes[one].weight_ns; }
    double whole_ns() const { return make_account(model).classes.sum().weight_ns; }
    // What a page's document is when its scripts have run.
    std::string document_of(const std::string& url) {
        const Outcome outcome =
            run({"/usr/bin/env", chromium, "--headless", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--allow-file-access-from-files",
                 "--user-data-dir=" + folder.path("chromium"), "--window-size=1200,800",
                 "--virtual-time-budget=20000", "--dump-dom", url});
        return outcome.out;
    }

    Model model;
    SyntheticStream stream{model};
    TemporaryFolder folder;
    const std::string chromium = find_tool("chromium");
};

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
    const std::string text = document_of("file://" + page);
    const size_t begin = text.find("<pre id=\"report\">"), end = text.find("</pre>");
    ASSERT_NE(begin, std::string::npos) << text.substr(0, 2000);
    const size_t from = begin + sizeof("<pre id=\"report\">") - 1;
    std::string report_text =
        std::regex_replace(text.substr(from, end - from), std::regex("&lt;"), "<");
    report_text = std::regex_replace(report_text, std::regex("&gt;"), ">");
    report_text = std::regex_replace(report_text, std::regex("&amp;"), "&");
    const auto report = nlohmann::json::parse(report_text);
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
