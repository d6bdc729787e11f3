// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/json/json_parts.h"

#include "views/escape.h"
#include "views/tail.h"

#include <cmath>

namespace auger::json_parts {

Line start(const char* command) {
    return {{"schema", 1}, {"command", command}};
}

std::string finish(const Line& line) {
    return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Line number(double value) {
    if (!std::isfinite(value))
        return nullptr;
    if (value == std::floor(value) && std::abs(value) < 9e15)
        return static_cast<int64_t>(value);
    return value;
}

Line nanoseconds(double value) {
    return std::isfinite(value) ? Line(static_cast<int64_t>(std::llround(value))) : Line(nullptr);
}

Line sums(const SampleSum& sum) {
    return {{"samples", number(sum.samples)},
            {"weight", number(sum.weight_ns)},
            {"cpu", number(sum.cpu_ns())},
            {"blocked", number(sum.blocked_ns)},
            {"runnable", number(sum.runnable_ns)}};
}

Line class_sums(const ClassSums& classes) {
    Line line = Line::object();
    for (CallClass c : all_call_classes)
        line[std::string(to_string(c))] = sums(classes[c]);
    return line;
}

Line window_line(const Window& window) {
    static const char* const kinds[] = {"all", "last", "ewma"};
    return {{"kind", kinds[static_cast<size_t>(window.kind)]},
            {"span", window.span_ns},
            {"until", window.end_ns ? Line(window.end_ns) : Line(nullptr)}};
}

Line threshold_line(const Threshold& threshold, const ThresholdState& state) {
    if (state.kind == ThresholdState::Kind::none)
        return nullptr;
    Line line = Line::object();
    line["kind"] = threshold.kind == Threshold::Kind::fixed ? "fixed" : "percentile";
    if (threshold.kind == Threshold::Kind::percentile)
        line["percentile"] = threshold.percentile;
    line["ns"] = state.in_force() ? Line(state.value_ns) : Line(nullptr);
    if (threshold.kind == Threshold::Kind::percentile) {
        line["warming_up"] = state.kind == ThresholdState::Kind::warming;
        line["calls"] = state.calls;
        line["calls_needed"] = state.calls_needed;
    }
    return line;
}

std::string probe_name(const Model& model, ProbeId id) {
    const ProbeInfo* probe = model.find_probe(id);
    return probe ? escape_untrusted(probe->text) : "#" + std::to_string(id.value);
}

Line tail_of_probe(const Model& model, ProbeId id) {
    const ProbeInfo* probe = model.find_probe(id);
    return text_or_null(probe ? tail_advice(tail_of(model, *probe)) : "");
}

Line text_or_null(const std::string& text) {
    return text.empty() ? Line(nullptr) : Line(escape_untrusted(text));
}

Line split_line(const Model& model) {
    if (!model.split().active)
        return nullptr;
    const auto gap =
        model.split_near_sample_gap() ? model.visible_gap(model.split().probe) : std::nullopt;
    return {{"probe", probe_name(model, model.split().probe)},
            {"tail", tail_of_probe(model, model.split().probe)},
            {"threshold", threshold_line(model.split().threshold, model.split_state())},
            {"so_far", model.split().so_far},
            {"branch", text_or_null(model.split().branch.text())},
            {"by", text_or_null(model.split().label)},
            {"near_sample_gap", model.split_near_sample_gap()},
            {"visible_from", model.visible_from_ns()},
            {"visible_gap", gap ? Line(*gap) : Line(nullptr)}};
}

namespace {

Line class_rows(const std::vector<ClassRow>& rows) {
    Line list = Line::array();
    for (const ClassRow& row : rows) {
        Line line = {{"class", escape_untrusted(to_string(row.filter))}};
        line.update(sums(row.samples));
        line["calls"] = row.calls;
        list.push_back(std::move(line));
    }
    return list;
}

} // namespace

void put_combined(Line& line, const Model& model, const ClassTable& table, const Window& window) {
    line["branch"] = line["labels"] = nullptr;
    const SplitInfo& split = model.split();
    if (!split.active)
        return;
    if (!split.branch.empty()) {
        MarkCounts counts = model.branch_counts(window);
        line["branch"] = {{"text", escape_untrusted(split.branch.text())},
                          {"taken", number(counts.taken)},
                          {"not_taken", number(counts.not_taken)},
                          {"classes", class_rows(branch_rows(model, table))},
                          {"unknown", sums(unknown_branch(table))}};
    }
    if (!split.label.empty())
        line["labels"] = {{"text", escape_untrusted(split.label)},
                          {"classes", class_rows(label_rows(model, table))},
                          {"unknown", sums(unknown_label(table))}};
}

} // namespace auger::json_parts
