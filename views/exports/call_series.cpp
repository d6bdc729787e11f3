// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/call_series.h"

#include "views/escape.h"
#include "views/model/timed_function.h"

#include <map>

namespace auger {

std::string series_label(std::string_view raw) {
    return elide_middle(escape_untrusted(raw), most_label_columns);
}

std::vector<CallSeries> call_series(const Model& model) {
    std::vector<CallSeries> all;
    std::map<std::pair<std::string, std::string>, size_t> known; // by label
    std::map<std::string, size_t> functions;                     // by probe
    for (const TimedFunction& timed : timed_functions(model)) {
        if (timed.is_point(model))
            continue;
        const SpecInfo& spec = timed.info(model);
        std::string probe = series_label(model.find_probe(spec.probe)->text),
                    function = series_label(spec.function);
        if (!known.contains({probe, function}) && ++functions[probe] > most_function_series)
            function = other_functions;
        const auto [entry, is_new] = known.try_emplace({probe, function}, all.size());
        if (is_new)
            all.push_back({std::move(probe), std::move(function), {}, {}, timed.is_counted(model)});
        all[entry->second].calls.merge(timed.calls(model));
        all[entry->second].tail.add(spec);
    }
    return all;
}

std::array<double, series_bounds_ns.size()> counts_below(const WeightedHistogram& durations) {
    std::array<double, series_bounds_ns.size()> counts{};
    double below = 0;
    uint32_t bucket = 0;
    for (size_t i = 0; i < counts.size(); i++) {
        for (; bucket < durations.end_bucket() && bucket_high(bucket) <= series_bounds_ns[i];
             bucket++)
            below += durations.count(bucket);
        counts[i] = below;
    }
    return counts;
}

} // namespace auger
