// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/prometheus.h"

#include "views/exports/call_series.h"
#include "views/exports/metrics.h"

#include <fmt/format.h>

namespace auger {

namespace {

// In quotes: \ and " are escaped; there are no line breaks.
std::string label_value(std::string_view label) {
    std::string text;
    for (const char c : label) {
        if (c == '\\' || c == '"')
            text += '\\';
        text += c;
    }
    return '"' + text + '"';
}

class PrometheusText final : public MetricsWriter {
  public:
    explicit PrometheusText(ByteSink& out) : out_(out) {}

    void begin(std::string_view name, MetricType type, std::string_view help) override {
        const char* word = type == MetricType::counter ? "counter"
                           : type == MetricType::gauge ? "gauge"
                                                       : "histogram";
        name_ = name;
        out_.write(fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, word, help));
    }
    void value(const MetricLabels& labels, double number) override { line(labels, number, ""); }
    void histogram(const MetricLabels& labels, const CallStatistics& calls) override {
        MetricLabels bounded = labels;
        std::string& bound = bounded.emplace_back("le", "").second;
        const auto below = counts_below(calls.durations);
        for (size_t i = 0; i < below.size(); i++) {
            bound = fmt::format("{}", static_cast<double>(series_bounds_ns[i]) / 1e9);
            line(bounded, below[i], "_bucket");
        }
        bound = "+Inf";
        line(bounded, calls.durations.total(), "_bucket");
        line(labels, calls.sum_ns / 1e9, "_sum");
        line(labels, calls.durations.total(), "_count");
    }
    uint64_t values() const { return values_; }

  private:
    void line(const MetricLabels& labels, double number, std::string_view suffix) {
        std::string text;
        for (const auto& [name, label] : labels)
            text += fmt::format("{}{}={}", text.empty() ? "{" : ",", name, label_value(label));
        out_.write(
            fmt::format("{}{}{}{} {}\n", name_, suffix, text, text.empty() ? "" : "}", number));
        values_++;
    }

    ByteSink& out_;
    std::string name_;
    uint64_t values_ = 0;
};

} // namespace

Result<uint64_t> write_prometheus(const Model& model, const ExportQuery& query, ByteSink& out) {
    PrometheusText text(out);
    write_metrics(model, query, text);
    return text.values();
}

} // namespace auger
