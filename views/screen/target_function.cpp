// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/target_function.h"

#include "views/model/frame_kind.h"

#include <algorithm>
#include <map>

namespace auger {

namespace {

// Whether it has code of its own in a file.
bool of_a_file(const SymbolTables& symbols, FunctionId id) {
    const Function& function = symbols.function(id);
    return !function.kernel && symbols.module(function.module).kind == ModuleKind::file &&
           !only_inlined(symbols, id);
}

double weight(const ClassSums& sums, bool of_slow) {
    return of_slow ? sums[CallClass::slow].weight_ns : sums.sum().weight_ns;
}

// Of all stacks that it is on.
std::optional<FunctionId> heaviest_caller(const Model& model, const Scope& scope,
                                          FunctionId function) {
    const SymbolTables& symbols = model.symbols();
    const std::vector<ClassSums> sums =
        sum_stacks(model, Classifier(model), scope.window, scope.filter);
    std::vector<FunctionId> path;
    for (const bool of_slow : {true, false}) {
        std::map<FunctionId, double> weights;
        std::map<FunctionId, bool> known;
        const auto has_code = [&](FunctionId f) {
            const auto [entry, is_new] = known.try_emplace(f);
            if (is_new)
                entry->second = of_a_file(symbols, f);
            return entry->second;
        };
        for (uint32_t i = 0; i < sums.size(); i++) {
            if (!(weight(sums[i], of_slow) > 0))
                continue;
            expand_stack(symbols, StackId{i}, path);
            const auto at = std::find(path.rbegin(), path.rend(), function);
            const auto caller = std::find_if(at, path.rend(), has_code);
            if (caller != path.rend())
                weights[*caller] += weight(sums[i], of_slow);
        }
        const auto most =
            std::ranges::max_element(weights, {}, [](const auto& entry) { return entry.second; });
        if (most != weights.end())
            return most->first;
    }
    return std::nullopt;
}

} // namespace

std::optional<FunctionId> function_of_target(const Model& model, const Scope& scope,
                                             const Subject& subject) {
    const SymbolTables& symbols = model.symbols();
    if (!subject.function || of_a_file(symbols, *subject.function))
        return subject.function;
    if (subject.callers.empty())
        return heaviest_caller(model, scope, *subject.function);
    const auto caller =
        std::ranges::find_if(subject.callers, [&](FunctionId f) { return of_a_file(symbols, f); });
    return caller == subject.callers.end() ? std::nullopt : std::optional(*caller);
}

} // namespace auger
