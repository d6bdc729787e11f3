// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/prometheus.h"

#include "views/escape.h"
#include "views/exports/json_text.h"
#include "views/model/account.h"

#include <fmt/format.h>

#include <array>

namespace auger {

namespace {

// In quotes: \, " and line breaks are escaped.
std::string label_value(std::string_view raw) {
    std::string text;
    for (const char c : escape_untrusted(raw)) {
        if (c == '\\' || c == '"')
            text += '\\';
        text += c;
    }
    return '"' + text + '"';
}

class Metrics {
  public:
    explicit Metrics(ByteSink& out) : out_(out) {}

    void begin(const char* name, const char* type, const char* help) {
        name_ = name;
        out_.write(fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help));
    }
    // `labels` without braces, `suffix` of the name: "_sum".
    void value(const std::string& labels, double number, const char* suffix = "") {
        out_.write(fmt::format("{}{}{}{}{} {}\n", name_, suffix, labels.empty() ? "" : "{", labels,
                               labels.empty() ? "" : "}", number));
        values_++;
    }
    uint64_t values() const { return values_; }

  private:
    ByteSink& out_;
    std::string name_;
    uint64_t values_ = 0;
};

void write_calls(const Model& model, const Window& window, Metrics& metrics) {
    constexpr std::array quantiles = {0.5, 0.9, 0.95, 0.99, 0.999};
    const auto each = [&](auto&& put) {
        for (const auto& [id, probe] : model.probes())
            if (!probe.deleted)
                put(fmt::format("probe={}", label_value(probe.text)), id);
    };
    metrics.begin("auger_call_duration_seconds", "summary", "Durations of returned calls.");
    each([&](const std::string& label, ProbeId id) {
        if (model.is_counted(id))
            return;
        const CallStatistics recent = model.probe_statistics(id, window);
        const CallStatistics all = model.probe_statistics(id);
        for (const double q : quantiles)
            if (recent.returns > 0)
                metrics.value(fmt::format("{},quantile=\"{}\"", label, q),
                              recent.quantile(q) / 1e9);
        metrics.value(label, all.sum_ns / 1e9, "_sum");
        metrics.value(label, all.returns, "_count");
    });
    metrics.begin("auger_calls_entered_total", "counter",
                  "Calls that began; how often a place was reached.");
    each([&](const std::string& label, ProbeId id) {
        metrics.value(label, model.probe_statistics(id).entries);
    });
    metrics.begin("auger_calls_unwound_total", "counter", "Calls left without returning.");
    each([&](const std::string& label, ProbeId id) {
        metrics.value(label, model.probe_statistics(id).unwound);
    });
    metrics.begin("auger_calls_dropped_total", "counter", "Calls that could not be timed.");
    each([&](const std::string& label, ProbeId id) {
        metrics.value(label, model.probe_statistics(id).dropped);
    });
    metrics.begin("auger_calls_open", "gauge", "Calls that run now.");
    each([&](const std::string& label, ProbeId id) {
        metrics.value(label, static_cast<double>(model.probe_statistics(id).open));
    });
}

} // namespace

Result<uint64_t> write_prometheus(const Model& model, const ExportQuery& query, ByteSink& out) {
    Metrics metrics(out);
    write_calls(model, query.window, metrics);
    const Account account = make_account(model);
    metrics.begin("auger_samples_received_total", "counter", "Samples that reached auger.");
    metrics.value("", static_cast<double>(account.received));
    metrics.begin("auger_samples_kept", "gauge", "Samples in the store, by class of the split.");
    for (const CallClass one : all_call_classes)
        metrics.value(fmt::format("class=\"{}\"", to_string(one)), account.classes[one].samples);
    metrics.begin("auger_samples_evicted_total", "counter",
                  "Samples that made room for later ones.");
    metrics.value("", static_cast<double>(account.evicted));
    metrics.begin("auger_slow_calls_total", "counter", "Slow calls that were traced.");
    metrics.value("", static_cast<double>(model.slow_calls_received()));
    metrics.begin("auger_lost_events_total", "counter", "Events that were lost, by cause.");
    for (const auto& [cause, events] : model.ledger().lost)
        metrics.value(fmt::format("cause={}", label_value(cause)), static_cast<double>(events));
    return metrics.values();
}

} // namespace auger
