// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/timed_function.h"

#include <map>
#include <string_view>
#include <tuple>

namespace auger {

CallStatistics TimedFunction::calls(const Model& model, const Window& window) const {
    CallStatistics sum;
    for (const SpecId spec : specs)
        sum.merge(model.spec_statistics(spec, window));
    return sum;
}

std::vector<TimedFunction> timed_functions(const Model& model, std::optional<ProbeId> probe) {
    std::vector<TimedFunction> functions;
    std::map<std::tuple<ProbeId, uint64_t, std::string_view, std::string_view>, size_t> places;
    for (size_t i = 0; i < model.specs().size(); i++) {
        const SpecInfo& spec = model.specs()[i];
        if (probe && spec.probe != *probe)
            continue;
        if (const ProbeInfo* of = model.find_probe(spec.probe); !probe && (!of || of->deleted))
            continue;
        const auto [place, is_new] = places.try_emplace(
            {spec.probe, spec.offset, spec.module, spec.function}, functions.size());
        if (is_new)
            functions.emplace_back();
        functions[place->second].specs.push_back(SpecId{static_cast<uint32_t>(i)});
    }
    return functions;
}

} // namespace auger
