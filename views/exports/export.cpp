// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/export.h"

#include "views/escape.h"
#include "views/exports/call_json.h"
#include "views/exports/chrome_trace.h"
#include "views/exports/collapsed.h"
#include "views/exports/csv.h"
#include "views/exports/flame_html.h"
#include "views/exports/flame_svg.h"
#include "views/exports/otlp.h"
#include "views/exports/perf_script.h"
#include "views/exports/pprof.h"
#include "views/exports/prometheus.h"
#include "views/exports/speedscope.h"

#include <fmt/format.h>

#include <array>

namespace auger {

namespace {

constexpr std::array formats = {
    ExportFormat{"collapsed", ".folded .collapsed", "stacks",
                 "collapsed stacks: FlameGraph, speedscope, flamelens, inferno", write_collapsed},
    ExportFormat{"perf-script", ".perf .perf.txt", "samples",
                 "the text of perf script: Firefox Profiler, FlameScope, stackcollapse-perf.pl",
                 write_perf_script},
    ExportFormat{"pprof", ".pb.gz .pprof", "samples",
                 "gzipped profile.proto: go tool pprof, Pyroscope, Parca", write_pprof},
    ExportFormat{"otlp", ".otlp", "samples",
                 "OpenTelemetry's ProfilesData: its collector, Pyroscope", write_otlp},
    ExportFormat{"speedscope", ".speedscope.json", "stacks", "speedscope, a profile a class",
                 write_speedscope},
    ExportFormat{"html", ".html", "frames",
                 "a flame graph in one file: zoom, search, classes, difference", write_flame_html},
    ExportFormat{"svg", ".svg", "frames", "a flame graph as one picture, without script",
                 write_flame_svg},
    ExportFormat{"chrome-trace", ".trace.json", "slow calls",
                 "slow calls in their threads' time: Perfetto, chrome://tracing",
                 write_chrome_trace},
    ExportFormat{"calls-csv", ".calls.csv", "slow calls", "slow calls as a table", write_calls_csv},
    ExportFormat{"calls-json", ".calls.json", "slow calls",
                 "slow calls with values and stacks, as --json calls has them", write_calls_json},
    ExportFormat{"histogram-csv", ".histogram.csv", "buckets",
                 "durations of every probe's calls as a table", write_histograms_csv},
    ExportFormat{"histogram-json", ".histogram.json", "buckets",
                 "the same with percentiles, as --json hist has them", write_histograms_json},
    ExportFormat{"prometheus", ".prom", "values", "histograms, counts and losses for Prometheus",
                 write_prometheus},
};

} // namespace

std::span<const ExportFormat> export_formats() {
    return formats;
}

const ExportFormat* find_export_format(std::string_view name) {
    for (const ExportFormat& format : formats)
        if (format.name == name)
            return &format;
    return nullptr;
}

const ExportFormat* export_format_of_file(std::string_view path) {
    const ExportFormat* found = nullptr;
    size_t longest = 0;
    for (const ExportFormat& format : formats) {
        for (std::string_view rest = format.extensions; !rest.empty();) {
            const size_t end = std::min(rest.find(' '), rest.size());
            const std::string_view extension = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            if (extension.size() > longest && path.ends_with(extension)) {
                found = &format;
                longest = extension.size();
            }
        }
    }
    return found;
}

std::vector<std::string> export_losses(const Model& model, const ExportQuery& query) {
    std::vector<std::string> losses;
    for (const auto& [cause, events] : model.ledger().lost) {
        const auto before = query.lost_before.find(cause);
        const uint64_t known = before == query.lost_before.end() ? 0 : before->second;
        if (events > known)
            losses.push_back(fmt::format("lost: {} ({})", events - known, escape_untrusted(cause)));
    }
    if (query.evicted) {
        if (*query.evicted)
            losses.push_back(fmt::format(
                "gone: {} samples of this time (for want of room in the store)", *query.evicted));
        return losses;
    }
    const SampleStore& samples = model.samples();
    // The window begins before the oldest that is left.
    const bool reaches_back =
        samples.size() > 0 &&
        query.window.since(model.first_ns(), model.now_ns()) < samples.oldest().time_ns;
    if (const uint64_t evicted = model.samples_evicted(); evicted && reaches_back)
        losses.push_back(
            fmt::format("gone: {} samples (the oldest, for want of room in the store)", evicted));
    return losses;
}

std::vector<std::string> export_rules(const Model& model) {
    std::vector<std::string> rules;
    for (const Rule& rule : model.symbols().rules().list())
        rules.push_back("rule: " + escape_untrusted(spell_rule(rule)));
    return rules;
}

std::vector<std::string> export_notes(const Model& model, const ExportQuery& query) {
    std::vector<std::string> notes = export_losses(model, query);
    if (query.frames != FrameChoice::all)
        notes.push_back(fmt::format("frames: {}", name_of(query.frames)));
    for (std::string& rule : export_rules(model))
        notes.push_back(std::move(rule));
    return notes;
}

} // namespace auger
