// SPDX-License-Identifier: GPL-3.0-or-later
// hist PROBE by host: percentiles of a probe's durations, a row for each host. That of all is of
// their histograms added up, not of their percentiles.
#include "views/escape.h"
#include "views/format.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace auger {

namespace {

constexpr std::array host_quantiles{0.5, 0.95, 0.99, 0.999};
constexpr size_t host_column = 9;

void draw_host(Canvas& canvas, const std::string& name, const CallStatistics& calls, size_t names) {
    const size_t y = canvas.height();
    canvas.put(0, y, elide_middle(escape_untrusted(name), names, "..."), Style::name);
    size_t x = names + 10;
    canvas.put_right(x, y, format_count(calls.counted()), Style::number);
    const auto put = [&](double ns) {
        x += host_column + 1;
        canvas.put_right(x, y, calls.durations.total() > 0 ? format_duration(ns) : "-");
    };
    for (const double quantile : host_quantiles)
        put(calls.quantile(quantile));
    put(static_cast<double>(calls.max_ns));
    put(calls.returns > 0 ? calls.sum_ns / calls.returns : 0);
}

} // namespace

Result<Canvas> hist_by_host_view(const Model& model, const ViewOptions& options, ProbeId id) {
    if (!model.find_probe(id))
        return Error{"show histogram", fmt::format("#{}", id.value), "no such probe", "see: probes",
                     Error::Kind::failed};
    const CallStatistics all = model.probe_statistics(id, options.window);
    const uint64_t from = std::max(all.from_ns, model.first_ns());
    Canvas canvas =
        start_view(model, options, "hist " + probe_text(model, id) + " by host", from, false);
    size_t names = 4;
    const std::vector<std::string> hosts = model.machine_list();
    for (const std::string& host : hosts)
        names = std::max(names, escape_untrusted(host).size());
    names = std::min<size_t>(names, 30);
    const size_t y = canvas.height() + 1;
    canvas.put(0, y, "host", Style::dim);
    size_t x = names + 10;
    canvas.put_right(x, y, "calls", Style::dim);
    for (const char* name : {"p50", "p95", "p99", "p99.9", "max", "mean"})
        canvas.put_right(x += host_column + 1, y, name, Style::dim);
    for (const std::string& host : hosts)
        draw_host(canvas, host, model.probe_statistics(id, options.window, HostChoice{host}),
                  names);
    if (hosts.size() > 1)
        draw_host(canvas, "all", all, names);
    return canvas;
}

} // namespace auger
