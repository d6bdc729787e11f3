// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/endpoint_answer.h"

#include "loader/base/read_clock.h"
#include "views/exports/collapsed.h"
#include "views/exports/file_sink.h"
#include "views/exports/flame_html.h"
#include "views/exports/otlp.h"
#include "views/exports/perf_script.h"
#include "views/exports/pprof.h"
#include "views/exports/prometheus.h"
#include "views/exports/prometheus_protobuf.h"
#include "views/format.h"
#include "views/json/json_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace auger {
namespace {

using Kind = EndpointRequest::Kind;

constexpr ForkedLimits answer_limits{.file_bytes = uint64_t{512} << 20, .cpu_seconds = 60};

const char* type_of(const EndpointRequest& request) {
    switch (request.kind) {
    case Kind::profile:
        return "application/octet-stream";
    case Kind::otlp:
        return "application/x-protobuf";
    case Kind::flame_html:
        return "text/html; charset=utf-8";
    case Kind::metrics:
        return request.protobuf ? prometheus_protobuf_type
                                : "text/plain; version=0.0.4; charset=utf-8";
    case Kind::status:
    case Kind::flame:
    case Kind::top:
    case Kind::diff:
    case Kind::hist:
        return "application/json";
    case Kind::calls:
        return "application/x-ndjson";
    case Kind::index:
    case Kind::samples:
    case Kind::collapsed:
    case Kind::events:
        break;
    }
    return "text/plain; charset=utf-8";
}

// How the samples came about, for who reads them.
std::string sampling_lines(const EndpointRequest& request, const SamplingSettings& sampling) {
    std::string text =
        fmt::format("# auger: {} of {}, a sample of each thread every {}\n",
                    format_duration(static_cast<double>(request.duration_ns)),
                    sampling.wall ? "wall-clock time (waits when they end)" : "CPU time",
                    format_duration(static_cast<double>(request.interval_ns)));
    const uint64_t rate = std::max(sampling.rate_hz, sampling.raised_hz);
    if (rate != 0 && second_ns / rate > request.interval_ns)
        text += fmt::format("# the session samples at {} Hz, which is less\n", rate);
    return text;
}

Result<void> write_line(FileSink& sink, const Result<std::string>& json) {
    if (!json)
        return json.error();
    sink.write(*json + "\n");
    return {};
}

Result<void> write_calls(const Model& model, const EndpointRequest& request, const Window& window,
                         FileSink& sink) {
    const auto lines = calls_json(model, window, request.probe, request.selection.filter);
    if (!lines)
        return lines.error();
    // The oldest first: the newest are what is asked for.
    const size_t rows = std::min(request.rows.value_or(lines->size()), lines->size());
    for (size_t i = lines->size() - rows; i < lines->size(); i++)
        sink.write((*lines)[i] + "\n");
    return {};
}

Result<void> outcome_of(const Result<uint64_t>& written) {
    if (!written)
        return written.error();
    return {};
}

Result<void> write_answer(const Model& model, const EndpointRequest& request,
                          const AnswerSource& source, FileSink& sink) {
    const ExportQuery& query = source.query;
    switch (request.kind) {
    case Kind::samples:
        sink.write(sampling_lines(request, source.sampling));
        return outcome_of(write_perf_script(model, query, sink));
    case Kind::profile:
        return outcome_of(write_pprof(model, query, sink));
    case Kind::otlp:
        return outcome_of(write_otlp(model, query, sink));
    case Kind::collapsed:
        return outcome_of(write_collapsed(model, query, sink));
    case Kind::flame_html:
        return outcome_of(write_flame_html(model, query, sink));
    case Kind::metrics:
        return outcome_of(request.protobuf ? write_prometheus_protobuf(model, query, sink)
                                           : write_prometheus(model, query, sink));
    case Kind::status:
        return write_line(sink, status_json(model, source.status));
    case Kind::flame:
        return write_line(sink, flame_json(model, query.window, query.filter, query.by, query.under,
                                           query.frames));
    case Kind::top:
        return write_line(sink, top_json(model, query.window, query.filter, request.rows));
    case Kind::diff:
        return write_line(sink, diff_json(model, query.window, CallClass::slow, CallClass::fast));
    case Kind::hist:
        return write_line(sink, hist_json(model, query.window, *request.probe));
    case Kind::calls:
        return write_calls(model, request, query.window, sink);
    case Kind::index:
    case Kind::events:
        break; // answered at once
    }
    return {};
}

} // namespace

Result<ForkedTask> start_answer(const Model& model, const EndpointRequest& request,
                                const AnswerSource& source) {
    return ForkedTask::start(
        "auger-answer",
        [&](int out) -> Result<void> {
            FileSink sink(out);
            if (auto written = write_answer(model, request, source, sink); !written)
                return written;
            return sink.finish("answer");
        },
        answer_limits);
}

HttpAnswer answer_of(const EndpointRequest& request, UniqueFd file) {
    HttpAnswer answer;
    answer.file = std::move(file);
    answer.type = type_of(request);
    if (request.kind == Kind::profile)
        answer.headers.emplace_back("Content-Disposition", "attachment; filename=\"profile\"");
    return answer;
}

} // namespace auger
