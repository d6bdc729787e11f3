// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/metrics.h"

#include "views/exports/call_series.h"
#include "views/model/account.h"

#include <fmt/format.h>

#include <array>
#include <set>

namespace auger {

namespace {

MetricLabels labels_of(const CallSeries& series) {
    return {{"probe", series.probe}, {"function", series.function}};
}

// Only where something is missing in durations: to a store a label without a value is none.
MetricLabels with_tail_label(MetricLabels labels, const Tail& tail) {
    if (std::string text = tail_text(tail); !text.empty())
        labels.emplace_back("tail", std::move(text));
    return labels;
}

void put_histograms(const std::vector<CallSeries>& all, MetricsWriter& out) {
    out.begin("auger_call_duration_seconds", MetricType::histogram, "Durations of returned calls.");
    for (const CallSeries& one : all)
        if (!one.counted)
            out.histogram(with_tail_label(labels_of(one), one.tail), one.calls);
}

void put_percentiles(const Model& model, const Window& window, MetricsWriter& out) {
    out.begin("auger_call_duration_quantile_seconds", MetricType::gauge,
              "Percentiles of durations in the window in force; those of several hosts cannot be "
              "added.");
    std::set<std::string> told; // probes may have the same text
    for (const auto& [id, probe] : model.probes()) {
        const std::string label = series_label(probe.text);
        if (probe.deleted || !told.insert(label).second)
            continue;
        const CallStatistics recent = model.probe_statistics(id, window);
        if (recent.durations.total() <= 0)
            continue;
        // Not "quantile", which Prometheus' checks leave to summaries.
        for (const double q : {0.5, 0.9, 0.95, 0.99, 0.999})
            out.value(with_tail_label({{"probe", label}, {"q", fmt::format("{}", q)}},
                                      tail_of(model, probe)),
                      recent.quantile(q) / 1e9);
    }
}

void put_counts(const std::vector<CallSeries>& all, MetricsWriter& out) {
    struct Count {
        std::string_view name;
        MetricType type;
        std::string_view help;
        double (*of)(const CallStatistics&);
    };
    constexpr std::array counts = {
        Count{"auger_calls_entered_total", MetricType::counter,
              "Calls that began; how often a place was reached.",
              [](const CallStatistics& calls) { return calls.entries; }},
        Count{"auger_calls_unwound_total", MetricType::counter, "Calls left without returning.",
              [](const CallStatistics& calls) { return calls.unwound; }},
        Count{"auger_calls_dropped_total", MetricType::counter, "Calls that could not be timed.",
              [](const CallStatistics& calls) { return calls.dropped; }},
        Count{"auger_calls_open", MetricType::gauge, "Calls that run now.",
              [](const CallStatistics& calls) { return static_cast<double>(calls.open); }},
    };
    for (const Count& count : counts) {
        out.begin(count.name, count.type, count.help);
        for (const CallSeries& one : all)
            out.value(labels_of(one), count.of(one.calls));
    }
}

// Of each receiver; where nothing is shipped, there are none.
void put_shipping(const std::vector<ShippingStatus>& shipping, MetricsWriter& out) {
    using Count = ShippingStatus::Count;
    constexpr std::pair<const char*, uint64_t Count::*> units[] = {{"intervals", &Count::intervals},
                                                                   {"samples", &Count::samples}};
    if (shipping.empty())
        return;
    const auto receiver = [](const ShippingStatus& one) {
        return MetricLabels::value_type{"receiver", series_label(one.receiver)};
    };
    for (const auto& [unit, member] : units) {
        out.begin(fmt::format("auger_shipping_{}_total", unit), MetricType::counter,
                  "What became of what was to be shipped.");
        for (const ShippingStatus& one : shipping) {
            for (const auto& [fate, count] : one.counts())
                if (fate != "waiting")
                    out.value({receiver(one), {"fate", std::string(fate)}},
                              static_cast<double>(count.*member));
            const bool intervals = member == &Count::intervals;
            out.value({receiver(one), {"fate", intervals ? "unwritten" : "evicted"}},
                      static_cast<double>(intervals ? one.unwritten : one.evicted));
            if (!intervals)
                out.value({receiver(one), {"fate", "late"}}, static_cast<double>(one.late));
        }
        out.begin(fmt::format("auger_shipping_waiting_{}", unit), MetricType::gauge,
                  "That wait in the spool.");
        for (const ShippingStatus& one : shipping)
            out.value({receiver(one)}, static_cast<double>(one.waiting.*member));
    }
    out.begin("auger_shipping_rejected_total", MetricType::counter,
              "Profiles that the receiver left out of what it took.");
    for (const ShippingStatus& one : shipping)
        out.value({receiver(one)}, static_cast<double>(one.rejected));
    out.begin("auger_shipping_spool_bytes", MetricType::gauge, "Of what waits.");
    for (const ShippingStatus& one : shipping)
        out.value({receiver(one)}, static_cast<double>(one.bytes));
}

} // namespace

void write_metrics(const Model& model, const ExportQuery& query, MetricsWriter& out) {
    const std::vector<CallSeries> calls = call_series(model);
    put_histograms(calls, out);
    put_percentiles(model, query.window, out);
    put_counts(calls, out);
    const Account account = make_account(model);
    const auto put = [&](std::string_view name, std::string_view help, uint64_t number) {
        out.begin(name, MetricType::counter, help);
        out.value({}, static_cast<double>(number));
    };
    put("auger_samples_received_total", "Samples that reached auger.", account.received);
    out.begin("auger_samples_kept", MetricType::gauge,
              "Samples in the store, by class of the split.");
    for (const CallClass one : all_call_classes)
        out.value({{"class", std::string(to_string(one))}}, account.classes[one].samples);
    put("auger_samples_evicted_total", "Samples that made room for later ones.", account.evicted);
    put("auger_slow_calls_total", "Slow calls that were traced.", model.slow_calls_received());
    out.begin("auger_lost_events_total", MetricType::counter, "Events that were lost, by cause.");
    for (const auto& [cause, events] : model.ledger().lost)
        out.value({{"cause", series_label(cause)}}, static_cast<double>(events));
    put_shipping(query.shipping, out);
}

} // namespace auger
