// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/json/json_parts.h"
#include "views/json/json_views.h"

#include "views/escape.h"
#include "views/model/neighbours.h"

namespace auger {

std::string neighbours_json(const Model& model, const Window& window, const FunctionFocus& focus,
                            const ClassFilter& filter, std::optional<size_t> limit,
                            FrameChoice frames) {
    using namespace json_parts;
    const SymbolTables& symbols = model.symbols();
    Neighbours found = sum_neighbours(model, window, filter, focus, frames);
    if (limit && found.neighbours.size() > *limit)
        found.neighbours.resize(*limit);
    auto module_of = [&](FunctionId id) {
        return escape_untrusted(symbols.module(symbols.function(id).module).path);
    };
    Line list = Line::array();
    for (const FunctionSums& of : found.neighbours)
        list.push_back({{"function", escape_untrusted(symbols.name(of.function))},
                        {"module", module_of(of.function)},
                        {"self", sums(of.self.sum())},
                        {"total", sums(of.total.sum())},
                        {"classes", class_sums(of.total)}});
    const bool callers = focus.kind == FunctionFocus::Kind::callers;
    Line line = start(callers ? "callers" : "callees");
    line["window"] = window_line(window);
    line["split"] = split_line(model);
    line["frames"] = name_of(frames);
    line["only"] = text_or_null(model.only().text);
    line["class"] = escape_untrusted(to_string(filter));
    line["function"] = escape_untrusted(symbols.name(focus.function));
    line["module"] = module_of(focus.function);
    line["total"] = sums(found.function.sum());
    line["none"] = sums(found.none.sum()); // without a caller; in the function itself
    line["functions"] = std::move(list);
    return finish(line);
}

} // namespace auger
