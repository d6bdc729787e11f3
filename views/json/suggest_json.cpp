// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/json/json_parts.h"
#include "views/json/json_views.h"

#include "views/escape.h"
#include "views/model/function_probe.h"
#include "views/next_step.h"

namespace auger {

std::string suggest_json(const Model& model, const Suggestions& suggestions,
                         std::optional<size_t> limit) {
    using namespace json_parts;
    const SymbolTables& symbols = model.symbols();
    Line functions = Line::array();
    for (const Suggestion& one : suggestions.functions) {
        if (limit && functions.size() == *limit)
            break;
        const ProbeInfo* probe = probe_of(model, one.function);
        const Function& function = symbols.function(one.function);
        functions.push_back(
            {{"function", escape_untrusted(symbols.name(one.function))},
             {"module", escape_untrusted(symbols.module(function.module).path)},
             {"cpu", nanoseconds(one.cpu_ns)},
             {"blocked", nanoseconds(one.blocked_ns)},
             {"returns", one.returns},
             {"probe", text_or_null(probe ? probe_name(model, probe->id) : std::string())}});
    }
    Line line = start("suggest");
    line["samples"] = suggestions.samples;
    line["cpu"] = nanoseconds(suggestions.cpu_ns);
    line["functions"] = std::move(functions);
    line["next"] = text_or_null(next_step(model, suggestions));
    return finish(line);
}

} // namespace auger
