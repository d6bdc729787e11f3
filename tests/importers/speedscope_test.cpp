// SPDX-License-Identifier: GPL-3.0-or-later
// Exports as speedscope's own importers read them, in its page as npm has it. (Firefox Profiler's
// importers are in no package of Debian's or npm's: see PerfScriptIsWhatImportersTake in
// tests/unit/views_exports_test.cpp for the grammar of the one that reads perf's text.)
#include "tests/importers/exported_model.h"
#include "views/escape.h"
#include "views/frame_text.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace auger::test {
namespace {

using nlohmann::json;
using testing::Contains;

const std::string packages = AUGER_NPM_DIR;

// A profile of what speedscope made of a file: frames that open and close.
struct Imported {
    double weight = 0;
    std::map<std::string, double> self; // weight by innermost frame
};

Imported summed(const json& file, const json& profile) {
    Imported sums;
    sums.weight = profile["endValue"].get<double>() - profile["startValue"].get<double>();
    std::vector<std::string> stack;
    double since = profile["startValue"];
    for (const json& event : profile["events"]) {
        const double at = event["at"];
        if (!stack.empty())
            sums.self[stack.back()] += at - since;
        since = at;
        if (event["type"] == "O")
            stack.push_back(file["shared"]["frames"][event["frame"].get<size_t>()]["name"]);
        else if (!stack.empty())
            stack.pop_back();
    }
    EXPECT_TRUE(stack.empty());
    return sums;
}

class Speedscope : public Importers {
  protected:
    // What it makes of each of these files.
    json import(const std::vector<std::string>& paths) {
        std::string script = "const files = {\n";
        for (const std::string& path : paths)
            script += json(path.substr(path.rfind('/') + 1)).dump() + ": \"" +
                      run({"/usr/bin/env", "base64", "-w0", path}).out + "\",\n";
        script += "};\n" + text_of(std::string(AUGER_IMPORTERS_DIR) + "/speedscope.js");
        return report_of("file://" + page + "#localProfilePath=" + folder.file("load.js", script));
    }
    void expect_nasty_names(const Imported& sums, double weight,
                            std::string (*spelled)(std::string_view)) {
        for (const std::string& name : nasty_names)
            EXPECT_THAT(sums.self, Contains(std::pair{spelled(name), weight}));
    }

    const std::string page = packages + "/node_modules/speedscope/dist/release/index.html";
};

TEST_F(Speedscope, ReadsEveryFormat) {
    if (chromium.empty())
        GTEST_SKIP() << "chromium is not installed";
    if (!std::ifstream(page))
        GTEST_SKIP() << "speedscope is not there. " << text_of(packages + "/reason");
    const json files = import({write("collapsed", "all.folded"),
                               write("collapsed", "slow.folded", {{CallClass::slow, {}, {}}, {}}),
                               write("perf-script", "all.perf"), write("pprof", "all.pb.gz"),
                               write("speedscope", "all.speedscope.json"),
                               write("chrome-trace", "all.trace.json")});
    for (const auto& [name, file] : files.items())
        ASSERT_FALSE(file.is_null()) << name;

    // One tick of the sampling clock was 1 ms.
    const json& folded = files["all.folded"];
    const Imported all = summed(folded, folded["profiles"][0]);
    EXPECT_EQ(all.weight * ms, whole_ns());
    EXPECT_EQ(all.self.at("scan(std::vector<int>&)"), 70);
    expect_nasty_names(all, 1, frame_text);
    const json& slow = files["slow.folded"];
    EXPECT_EQ(summed(slow, slow["profiles"][0]).weight * ms, ns(CallClass::slow));

    // Threads, with the names of all frames. Weights are what it makes of times.
    const json& perf = files["all.perf"];
    std::map<std::string, Imported> threads;
    for (const json& profile : perf["profiles"])
        threads[profile["name"]] = summed(perf, profile);
    ASSERT_EQ(threads.size(), 2u);
    EXPECT_EQ(threads.at("service pid: 100 tid: 101").self.count("scan(std::vector<int>&)"), 1u);
    const Imported& idle = threads.at("service pid: 100 tid: 102");
    EXPECT_NEAR(idle.weight, 0.024, 1e-6); // from its first sample to its last
    for (const std::string& name : nasty_names)
        EXPECT_EQ(idle.self.count(perf_frame_text(name)), 1u) << name.substr(0, 100);

    const json& pprof = files["all.pb.gz"];
    const Imported from_pprof = summed(pprof, pprof["profiles"][0]);
    EXPECT_EQ(from_pprof.weight, whole_ns());
    expect_nasty_names(from_pprof, ms, frame_text);

    const json& own = files["all.speedscope.json"];
    std::map<std::string, Imported> classes;
    for (const json& profile : own["profiles"])
        classes[profile["name"]] = summed(own, profile);
    EXPECT_EQ(classes.at("all").weight, whole_ns());
    for (const CallClass one : all_call_classes)
        EXPECT_EQ(classes.at(std::string(to_string(one))).weight, ns(one)) << to_string(one);
    expect_nasty_names(classes.at("outside"), ms, escape_untrusted);

    // Slow calls in their thread's time.
    const json& trace = files["all.trace.json"];
    ASSERT_EQ(trace["profiles"].size(), 1u);
    const json& calls = trace["profiles"][0];
    EXPECT_EQ(calls["type"], "evented");
    EXPECT_EQ(calls["unit"], "microseconds");
    ASSERT_EQ(calls["events"].size(), 2u);
    EXPECT_EQ(calls["events"][1]["at"].get<double>() - calls["events"][0]["at"].get<double>(),
              9000);
}

} // namespace
} // namespace auger::test
