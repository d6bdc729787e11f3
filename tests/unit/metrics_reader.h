// SPDX-License-Identifier: GPL-3.0-or-later
// What a store reads of metrics in Prometheus' text.
#pragma once

#include "views/exports/prometheus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>

namespace auger {

// By name and labels as written: {"auger_calls_open{probe=\"f\",function=\"f\"}", 3}.
using Values = std::map<std::string, double>;

inline Values values_of(const std::string& text) {
    Values values;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#'))
            continue;
        const size_t end = line.rfind(' ');
        EXPECT_TRUE(values.try_emplace(line.substr(0, end), std::stod(line.substr(end))).second)
            << "twice: " << line;
    }
    return values;
}

inline Values metrics(const Model& model, const ExportQuery& query = {}) {
    StringSink sink;
    const auto written = write_prometheus(model, query, sink);
    EXPECT_TRUE(written);
    const Values values = values_of(sink.text);
    EXPECT_EQ(values.size(), *written);
    return values;
}

// The histogram of one series: counts by bound in seconds, infinity for all.
inline std::map<double, double> buckets_of(const Values& values, const std::string& labels) {
    std::map<double, double> buckets;
    const std::string begin = "auger_call_duration_seconds_bucket{" + labels + ",le=\"";
    for (auto at = values.lower_bound(begin); at != values.end() && at->first.starts_with(begin);
         ++at) {
        const std::string bound =
            at->first.substr(begin.size(), at->first.size() - begin.size() - 2);
        buckets[bound == "+Inf" ? INFINITY : std::stod(bound)] = at->second;
    }
    return buckets;
}

} // namespace auger
