// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/time_in_functions.h"

#include "views/model/fold.h"
#include "views/model/sample_pass.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace auger {

TimeInFunctions time_in_functions(const Model& model, const Window& window,
                                  std::span<const std::string> names) {
    TimeInFunctions found;
    found.ns.resize(names.size());
    std::unordered_multimap<std::string_view, size_t> wanted;
    for (size_t i = 0; i < names.size(); i++)
        wanted.emplace(names[i], i);

    const SampleStore& store = model.samples();
    std::unordered_map<uint32_t, double> by_stack;
    SamplePass pass(model, window, {});
    while (pass.work(SIZE_MAX, [&](size_t i, CallClass, double factor) {
        if (store.kinds()[i] == SampleKind::cpu)
            by_stack[store.stacks()[i].index()] += factor * static_cast<double>(store.weights()[i]);
    }))
        ;
    std::vector<FunctionId> path;
    for (const auto& [stack, ns] : by_stack) {
        found.cpu_ns += ns;
        expand_stack(model.symbols(), StackId{stack}, path);
        for (const FunctionId function : path) {
            const auto [first, last] = wanted.equal_range(model.symbols().name(function));
            std::for_each(first, last, [&](const auto& one) { found.ns[one.second] += ns; });
        }
    }
    return found;
}

} // namespace auger
