// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/json/json_parts.h"
#include "views/json/json_views.h"

#include "views/escape.h"
#include "views/model/explanation.h"
#include "views/tail.h"

namespace auger {

namespace {

using json_parts::Line;

Line share_line(const ExplainedPart& part, double mean_ns) {
    const PartShare& share = part.share;
    Line line;
    line["mean"] = json_parts::nanoseconds(share.mean);
    line["duration_share"] = mean_ns > 0 ? share.mean / mean_ns : 0;
    line["variance_share"] = share.variance ? Line(*share.variance) : Line(nullptr);
    line["low"] = share.interval ? Line(share.interval->low) : Line(nullptr);
    line["high"] = share.interval ? Line(share.interval->high) : Line(nullptr);
    line["slow_mean"] = json_parts::nanoseconds(share.slow_mean);
    line["others_mean"] = json_parts::nanoseconds(share.others_mean);
    return line;
}

} // namespace

std::string explain_json(const Model& model, const Window& window, ProbeId probe,
                         std::optional<size_t> limit) {
    using namespace json_parts;
    Explanation found = explain_calls(model, window, probe);
    if (limit && found.functions.size() > *limit)
        found.functions.resize(*limit);
    Line functions = Line::array(), states = Line::array();
    for (const ExplainedPart& part : found.functions) {
        Line line = share_line(part, found.mean_ns);
        line["rest"] = part.rest;
        if (!part.rest) {
            const SpecInfo& spec = model.specs()[part.spec.index()];
            line["probe"] = probe_name(model, spec.probe);
            line["function"] = escape_untrusted(spec.function);
            line["module"] = escape_untrusted(spec.module);
            line["offset"] = spec.offset;
            line["calls"] = part.calls;
            line["tail"] = text_or_null(tail_advice(tail_of(spec)));
        }
        functions.push_back(std::move(line));
    }
    double known_ns = 0;
    for (const ExplainedPart& part : found.states)
        known_ns += part.share.mean;
    for (const ExplainedPart& part : found.states) {
        Line line = share_line(part, known_ns);
        line["state"] = std::string(part.state);
        states.push_back(std::move(line));
    }
    Line line = start("explain");
    line["window"] = window_line(window);
    line["probe"] = probe_name(model, probe);
    line["tail"] = tail_of_probe(model, probe);
    line["calls"] = found.calls;
    line["stands_for"] = found.stands_for;
    line["mean"] = nanoseconds(found.mean_ns);
    line["deviation"] = nanoseconds(found.deviation_ns);
    line["p95"] = nanoseconds(found.p95_ns);
    line["slow_calls"] = found.slow_calls;
    line["effective_calls"] = found.effective_calls;
    line["incomplete"] = found.incomplete;
    line["incomplete_mean"] = nanoseconds(found.incomplete_mean_ns);
    line["probing"] = nanoseconds(found.probing_ns);
    line["state_calls"] = found.state_calls;
    line["functions"] = std::move(functions);
    line["states"] = std::move(states);
    return finish(line);
}

} // namespace auger
