// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/stack_completeness.h"

#include <string_view>
#include <vector>

namespace auger {

namespace {

// "[stack cut: CAUSE]"
std::string cause_of(std::string_view frame) {
    const size_t from = frame.find(": ");
    if (from != std::string_view::npos)
        frame.remove_prefix(from + 2);
    if (frame.ends_with(']'))
        frame.remove_suffix(1);
    return std::string(frame);
}

} // namespace

uint64_t StackCompleteness::samples() const {
    uint64_t sum = whole;
    for (const auto& [cause, samples] : cut)
        sum += samples;
    return sum;
}

StackCompleteness stack_completeness(const Model& model) {
    const SymbolTables& symbols = model.symbols();
    const SampleStore& store = model.samples();
    std::vector<uint64_t> samples_of(symbols.stacks()), running(symbols.stacks());
    for (size_t i = 0; i < store.size(); i++) {
        if (const size_t stack = store.stacks()[i].index(); stack < samples_of.size()) {
            samples_of[stack]++;
            running[stack] += store.kinds()[i] == SampleKind::cpu;
        }
    }
    StackCompleteness counts;
    for (size_t i = 0; i < samples_of.size(); i++) {
        if (!samples_of[i])
            continue;
        const auto stack = symbols.stack(StackId{static_cast<uint32_t>(i)});
        if (stack.empty()) {
            counts.cut["no stack"] += samples_of[i];
            continue;
        }
        if (running[i] && symbols.probe_handling(stack))
            counts.probe_handling += running[i];
        const FunctionId outermost = symbols.found_frames(stack.back()).back().function;
        if (symbols.module(symbols.function(outermost).module).kind == ModuleKind::cut)
            counts.cut[cause_of(symbols.name(outermost))] += samples_of[i];
        else
            counts.whole += samples_of[i];
    }
    return counts;
}

} // namespace auger
