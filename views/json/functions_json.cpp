// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/json/json_parts.h"
#include "views/json/json_views.h"

#include "views/escape.h"
#include "views/model/function_table.h"
#include "views/tail.h"

namespace auger {

std::string functions_json(const Model& model, const Window& window, std::optional<ProbeId> probe,
                           FunctionColumn sorted_by, std::optional<size_t> limit) {
    using namespace json_parts;
    std::vector<FunctionRow> table = function_table(model, window, probe, sorted_by);
    if (limit && table.size() > *limit)
        table.resize(*limit);
    Line list = Line::array();
    for (const FunctionRow& row : table) {
        const SpecInfo& spec = model.specs()[row.spec.index()];
        const CallStatistics& calls = row.calls;
        list.push_back(
            {{"probe", probe_name(model, spec.probe)},
             {"function", escape_untrusted(spec.function)},
             {"module", escape_untrusted(spec.module)},
             {"offset", spec.offset},
             {"entries", number(calls.entries)},
             {"count", number(calls.returns)},
             {"unwound", number(calls.unwound)},
             {"open", calls.open},
             {"dropped", number(calls.dropped)},
             {"filtered", number(calls.filtered)},
             {"total", nanoseconds(calls.sum_ns)},
             {"self", calls.is_nested_known ? nanoseconds(calls.self_ns()) : Line(nullptr)},
             {"mean", nanoseconds(row.mean_ns)},
             {"min", calls.min_ns},
             {"max", calls.max_ns},
             {"p50", nanoseconds(row.p50_ns)},
             {"p95", nanoseconds(row.p95_ns)},
             {"p99", nanoseconds(row.p99_ns)},
             {"p999", nanoseconds(row.p999_ns)},
             {"tail", text_or_null(tail_advice(tail_of(spec)))}});
    }
    Line line = start("functions");
    line["window"] = window_line(window);
    line["probe"] = probe ? Line(probe_name(model, *probe)) : Line(nullptr);
    line["sort"] = std::string(to_string(sorted_by));
    line["functions"] = std::move(list);
    return finish(line);
}

} // namespace auger
