// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/next_step.h"

#include "views/model/function_probe.h"
#include "views/spell.h"

namespace auger {

std::string next_step(const Model& model, const Suggestions& suggestions) {
    if (model.split().active)
        return "diff slow fast";
    if (suggestions.functions.empty())
        return {};
    const FunctionId first = suggestions.functions[0].function;
    if (const ProbeInfo* probe = probe_of(model, first))
        return "split " + spell_word(probe->text) + " > p95";
    return "time " + spell_word(probe_text_of(model, model.symbols().found_as(first)[0]));
}

} // namespace auger
