// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics: what a store reads of them is what the model says, and histograms of hosts can be added.
#include "tests/unit/metrics_reader.h"
#include "tests/unit/views_exports_fixture.h"
#include "views/exports/call_series.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

// As histogram_quantile() has it: the bounds of the bucket in which the quantile lies.
std::pair<double, double> quantile_bounds(const std::map<double, double>& buckets, double q) {
    const double rank = q * buckets.rbegin()->second;
    double low = 0;
    for (const auto& [bound, count] : buckets) {
        if (count >= rank)
            return {low, bound};
        low = bound;
    }
    return {low, INFINITY};
}

// The grammar of the text format, line by line.
TEST_F(Exports, PrometheusLinesAreWellFormed) {
    const std::regex value(R"(^[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? -?[0-9.e+-]+$)");
    const std::string text = write("prometheus");
    uint64_t values = 0;
    std::string metric, type;
    std::set<std::string> known;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# HELP ")) {
            metric = line.substr(7, line.find(' ', 7) - 7);
            EXPECT_TRUE(known.insert(metric).second) << metric << " is in two places";
            type.clear();
        } else if (line.starts_with("# TYPE ")) {
            ASSERT_TRUE(line.starts_with("# TYPE " + metric + " ")) << line;
            type = line.substr(line.rfind(' ') + 1);
        } else {
            EXPECT_TRUE(std::regex_match(line, value)) << line;
            std::string name = line.substr(0, line.find_first_of("{ "));
            if (type == "histogram")
                name = name.substr(0, name.rfind('_'));
            EXPECT_EQ(name, metric);
            EXPECT_EQ(type == "counter", name.ends_with("_total")) << line;
            values++;
        }
    }
    EXPECT_EQ(values, written);
    EXPECT_THAT(text, HasSubstr("# TYPE auger_call_duration_seconds histogram\n"));
    EXPECT_THAT(text, Not(HasSubstr(" summary\n")));
    EXPECT_THAT(text, HasSubstr("auger_call_duration_seconds_count{probe=\"handle\",function="
                                "\"handle\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("auger_lost_events_total{cause=\"samples: event ring full\"} 3\n"));
}

TEST(Metrics, HistogramsOfHostsCanBeAdded) {
    std::mt19937 random(11);
    std::lognormal_distribution<double> fast(std::log(300e3), 1.5), slow(std::log(20e6), 2);
    std::map<double, double> added;
    std::vector<uint64_t> all;
    double sum = 0;
    for (const auto& [host, share] : {std::pair{"web-1", 0.02}, {"web-2", 0.4}, {"web-3", 1.0}}) {
        Model model;
        SyntheticStream stream{model};
        const SpecId handle = stream.probe(1, "handle");
        std::vector<uint64_t> durations;
        for (int i = 0; i < 5'000; i++) {
            const bool is_slow = std::bernoulli_distribution(share)(random);
            durations.push_back(static_cast<uint64_t>(is_slow ? slow(random) : fast(random)));
        }
        // Those that are bounds are beyond them: they were longer, by less than a nanosecond.
        durations.insert(durations.end(), {1, 1023, 1024, 1535, 1536, uint64_t{1} << 36,
                                           (uint64_t{3} << 35) - 1, uint64_t{1} << 45});
        stream.stats(10 * ms, handle, durations);
        const Values values = metrics(model);
        const auto buckets = buckets_of(values, R"(probe="handle",function="handle")");
        ASSERT_EQ(buckets.size(), 55u) << host;
        ASSERT_TRUE(added.empty() || added.size() == buckets.size());
        for (const auto& [bound, count] : buckets)
            added[bound] += count;
        sum += values.at(R"(auger_call_duration_seconds_sum{probe="handle",function="handle"})");
        all.insert(all.end(), durations.begin(), durations.end());
    }
    std::ranges::sort(all);
    double exact = 0;
    for (const uint64_t ns : all)
        exact += static_cast<double>(ns) / 1e9;
    EXPECT_NEAR(sum, exact, 1e-9 * exact);
    for (const auto& [bound, count] : added)
        EXPECT_EQ(count, std::ranges::count_if(all,
                                               [&, limit = bound](uint64_t ns) {
                                                   return static_cast<double>(ns) <
                                                          std::round(limit * 1e9);
                                               }))
            << bound;
    for (const double q : {0.001, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999}) {
        const double truth =
            static_cast<double>(all[static_cast<size_t>(q * static_cast<double>(all.size()))]) /
            1e9;
        const auto [low, high] = quantile_bounds(added, q);
        EXPECT_LE(low, truth) << q;
        EXPECT_GE(high, truth) << q;
        EXPECT_LE(high, low * 1.5 + 1.1e-6) << "no bucket is wider than half of its beginning";
    }
}

// All functions of a glob, with equal names among them; and a probe that was taken off for a while.
TEST(Metrics, SayWhatTheModelSays) {
    Model model;
    SyntheticStream stream{model};
    std::mt19937 random(12);
    std::vector<SpecId> specs;
    for (int i = 0; i < 40; i++)
        specs.push_back(stream.add_spec(1, fmt::format("parse_{}(int)", i % 30)));
    stream.edit_probe(1, "parse_*", specs, {});
    const SpecId recv = stream.probe(2, "libc:recv");
    stream.probe(3, "never");
    stream.sample(ms, 1, stream.stack({"main"}));
    for (uint64_t round = 1; round <= 20; round++)
        for (const SpecId spec : specs)
            stream.stats(round * 1'000 * ms, spec, {random() % (50 * ms), random() % 100'000},
                         random() % 3, spec.value % 2, random() % 2);
    stream.stats(20'000 * ms, recv, {5 * ms});
    model.on_time(20'100 * ms);
    for (const Window window : {Window{}, {Window::Kind::last, 5'000 * ms, 0}}) {
        const Values values = metrics(model, {{}, window});
        for (const auto& [id, text] :
             {std::pair{1u, "parse_*"}, {2u, "libc:recv"}, {3u, "never"}}) {
            const CallStatistics calls = model.probe_statistics(ProbeId{id});
            std::map<std::string, double> sums; // over functions
            for (const auto& [name, value] : values)
                if (const size_t at = name.find(fmt::format("{{probe=\"{}\"", text));
                    at != name.npos && name.find(",q=") == name.npos &&
                    (name.find("_bucket") == name.npos || name.ends_with("le=\"+Inf\"}")))
                    sums[name.substr(0, at)] += value;
            EXPECT_EQ(sums["auger_call_duration_seconds_count"], calls.returns);
            EXPECT_EQ(sums["auger_call_duration_seconds_bucket"], calls.returns);
            EXPECT_NEAR(sums["auger_call_duration_seconds_sum"], calls.sum_ns / 1e9, 1e-9);
            EXPECT_EQ(sums["auger_calls_entered_total"], calls.entries);
            EXPECT_EQ(sums["auger_calls_unwound_total"], calls.unwound);
            EXPECT_EQ(sums["auger_calls_dropped_total"], calls.dropped);
            EXPECT_EQ(sums["auger_calls_open"], static_cast<double>(calls.open));
            const CallStatistics recent = model.probe_statistics(ProbeId{id}, window);
            for (const double q : {0.5, 0.9, 0.95, 0.99, 0.999}) {
                const auto found = values.find(fmt::format(
                    "auger_call_duration_quantile_seconds{{probe=\"{}\",q=\"{}\"}}", text, q));
                ASSERT_EQ(found != values.end(), recent.returns > 0);
                if (found != values.end()) {
                    EXPECT_NEAR(found->second, recent.quantile(q) / 1e9, 1e-12);
                }
            }
        }
        for (const auto& [name, count] : values) {
            if (!name.starts_with("auger_call_duration_seconds_count{"))
                continue;
            const std::string labels =
                name.substr(name.find('{') + 1, name.size() - name.find('{') - 2);
            double last = 0;
            const auto buckets = buckets_of(values, labels);
            ASSERT_EQ(buckets.size(), 55u);
            for (const auto& [bound, below] : buckets) {
                EXPECT_GE(below, last) << labels << " " << bound;
                last = below;
            }
            EXPECT_EQ(last, count) << labels;
        }
    }
}

TEST(Metrics, HaveSeriesOfABoundedNumberThatNeverGoBack) {
    Model model;
    SyntheticStream stream{model};
    std::vector<SpecId> specs;
    Values before;
    for (uint64_t i = 0; i < 1'000; i++) {
        specs.push_back(stream.add_spec(1, fmt::format("f_{}", (i * 7'919) % 1'000)));
        stream.edit_probe(1, "f_*", specs, {});
        stream.stats(i * ms + 1, specs.back(), {i * 1'000});
        if (i % 50 == 0 || i + 1 == 1'000) {
            const Values now = metrics(model);
            for (const auto& [name, value] : before)
                if (name.starts_with("auger_call_duration_seconds") ||
                    name.starts_with("auger_calls_entered")) {
                    ASSERT_TRUE(now.contains(name)) << name;
                    EXPECT_GE(now.at(name), value) << name;
                }
            before = now;
        }
    }
    const auto series = call_series(model);
    ASSERT_EQ(series.size(), most_function_series + 1);
    EXPECT_EQ(series.front().function, "f_0");
    EXPECT_EQ(series.back().function, other_functions);
    EXPECT_EQ(series.back().calls.returns, 1'000 - static_cast<double>(most_function_series));
    EXPECT_LT(before.size(), 65 * 65u);
}

TEST(Metrics, LabelsAreEscapedAndShort) {
    Model model;
    SyntheticStream stream{model};
    const std::vector<std::string> names = {"operator\"\"_s", "back\\slash", "new\nline",
                                            "bad\xff",        long_name,     "long" + long_name};
    for (uint32_t i = 0; i < names.size(); i++)
        stream.stats(ms, stream.probe(i + 1, names[i]), {ms});
    const Values values = metrics(model);
    const auto has = [&](const std::string& label) {
        return values.contains(
            fmt::format("auger_calls_entered_total{{probe=\"{0}\",function=\"{0}\"}}", label));
    };
    EXPECT_TRUE(has(R"(operator\"\"_s)"));
    EXPECT_TRUE(has(R"(back\\slash)"));
    EXPECT_TRUE(has(R"(new\\x0aline)")) << testing::PrintToString(values);
    EXPECT_TRUE(has(R"(bad\\xff)"));
    for (const auto& [name, value] : values)
        EXPECT_LT(name.size(), 600u);
}

} // namespace
} // namespace auger
