// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/class_table.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace auger {

namespace {

using Key = std::tuple<CallClass, std::optional<bool>, uint32_t>;

SampleSum sum_of(double factor, double weight, SampleKind kind) {
    return {factor, weight, kind == SampleKind::blocked ? weight : 0,
            kind == SampleKind::runnable ? weight : 0};
}

} // namespace

ClassTable tabulate_classes(const Model& model, const Classifier& classify, const Window& window) {
    ClassTable table;
    const SampleStore& samples = model.samples();
    std::map<Key, CombinedClass> combined;
    std::vector<uint8_t> counted(model.calls().size()); // classes by duration that the call is in
    for (size_t i = 0; i < samples.size(); i++) {
        uint64_t time = samples.times()[i];
        double factor = window.weight(time, model.now_ns());
        if (factor == 0)
            continue;
        CallIndex call = samples.calls()[i];
        SampleSum sum =
            sum_of(factor, factor * static_cast<double>(samples.weights()[i]), samples.kinds()[i]);
        if (!classify.kept(call, samples.stacks()[i])) {
            table.left_out += sum;
            continue;
        }
        CallClass duration = classify(call, time);
        table.by_duration[duration] += sum;
        CallIndex outer = classify.outermost(call, time);
        if (outer == no_call)
            continue;
        std::optional<bool> taken = classify.taken(outer);
        LabelId label = classify.label(outer);
        CombinedClass& of = combined[{duration, taken, label.value}];
        of.duration = duration;
        of.taken = taken;
        of.label = label;
        of.samples += sum;
        auto bit = static_cast<uint8_t>(1 << static_cast<int>(duration));
        of.calls += !(counted[outer.index()] & bit);
        of.distinct_calls += counted[outer.index()] == 0;
        counted[outer.index()] |= bit;
    }
    for (const auto& [key, of] : combined)
        table.combined.push_back(of);
    return table;
}

std::vector<ClassRow> branch_rows(const Model& model, const ClassTable& table) {
    bool by_duration = model.split().threshold.kind != Threshold::Kind::none;
    std::map<std::pair<CallClass, bool>, ClassRow> by_class; // taken first
    for (const CombinedClass& of : table.combined) {
        if (!of.taken)
            continue;
        ClassRow& row = by_class[{of.duration, !*of.taken}];
        row.filter.taken = of.taken;
        if (by_duration)
            row.filter.duration = of.duration;
        row.samples += of.samples;
        row.calls += of.calls;
    }
    std::vector<ClassRow> rows;
    for (auto& [key, row] : by_class)
        rows.push_back(std::move(row));
    return rows;
}

std::vector<ClassRow> label_rows(const Model& model, const ClassTable& table) {
    std::map<uint32_t, ClassRow> by_label;
    for (const CombinedClass& of : table.combined) {
        if (of.label == no_label)
            continue;
        ClassRow& row = by_label[of.label.value];
        row.filter.label = model.labels()[of.label.index()];
        row.samples += of.samples;
        row.calls += of.distinct_calls;
    }
    std::vector<ClassRow> rows;
    for (auto& [label, row] : by_label)
        rows.push_back(std::move(row));
    std::stable_sort(rows.begin(), rows.end(), [](const ClassRow& a, const ClassRow& b) {
        return a.samples.weight_ns > b.samples.weight_ns;
    });
    return rows;
}

SampleSum unknown_branch(const ClassTable& table) {
    SampleSum sum;
    for (const CombinedClass& of : table.combined)
        if (!of.taken)
            sum += of.samples;
    return sum;
}

SampleSum unknown_label(const ClassTable& table) {
    SampleSum sum;
    for (const CombinedClass& of : table.combined)
        if (of.label == no_label)
            sum += of.samples;
    return sum;
}

} // namespace auger
