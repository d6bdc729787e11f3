// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/neighbours.h"

#include "views/model/function_match.h"

#include <algorithm>

namespace auger {

Neighbours sum_neighbours(const Model& model, const Window& window, const ClassFilter& filter,
                          const FunctionFocus& focus, FrameChoice frames) {
    FunctionPass pass(model, window, filter, focus, frames);
    while (pass.work(SIZE_MAX))
        ;
    Neighbours found{pass.whole(), pass.none(), pass.functions()};
    std::sort(found.neighbours.begin(), found.neighbours.end(),
              [](const FunctionSums& a, const FunctionSums& b) {
                  double x = a.total.sum().weight_ns, y = b.total.sum().weight_ns;
                  return x != y ? x > y : a.function < b.function;
              });
    return found;
}

namespace {

bool is_file(std::string_view path, std::string_view name) {
    return path == name || path.substr(path.rfind('/') + 1) == name;
}

// Those that the name fits best.
std::vector<FunctionId> functions_named(const SymbolTables& symbols, std::string_view name,
                                        std::string_view library) {
    std::vector<FunctionId> found;
    NameMatch best = NameMatch::part;
    for (uint32_t i = 0; i < symbols.functions(); i++) {
        const FunctionId id{i};
        if (!symbols.is_shown(id))
            continue;
        const Function& function = symbols.function(id);
        if (!library.empty() && !is_file(symbols.module(function.module).path, library))
            continue;
        const NameMatch match = match_name(symbols.name(id), name);
        if (match < best)
            continue;
        if (match > best)
            found.clear();
        best = match;
        found.push_back(id);
    }
    return found;
}

} // namespace

std::vector<FunctionId> find_functions(const SymbolTables& symbols, std::string_view text) {
    std::vector<FunctionId> found = functions_named(symbols, text, {});
    size_t colon = text.find(':');
    bool may_be_file = colon != text.npos && colon > 0 && text.substr(colon, 2) != "::";
    if (found.empty() && may_be_file)
        found = functions_named(symbols, text.substr(colon + 1), text.substr(0, colon));
    return found;
}

} // namespace auger
