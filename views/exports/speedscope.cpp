// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/speedscope.h"

#include "views/exports/json_text.h"
#include "views/model/frames_under.h"

#include <cmath>
#include <fmt/format.h>
#include <map>

namespace auger {

namespace {

// A stack's frames by number, root first, and what was spent in it.
using Stacks = std::map<std::vector<uint32_t>, ClassSums>;

// Frames in the order of their numbers: labels, then functions as they come.
class Frames {
  public:
    explicit Frames(const Model& model) : symbols_(model.symbols()) {}

    uint32_t label(const std::string& raw) {
        return number("l" + raw, [&] { return fmt::format("{{\"name\":{}}}", json_text(raw)); });
    }
    uint32_t function(FunctionId id) {
        return number("f" + std::to_string(id.value), [&] {
            return fmt::format("{{\"name\":{},\"file\":{}}}", json_text(symbols_.name(id)),
                               json_text(symbols_.module(symbols_.function(id).module).path));
        });
    }
    const std::vector<std::string>& all() const { return frames_; }

  private:
    template <typename Text>
    uint32_t number(const std::string& key, Text text) {
        auto [entry, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(frames_.size()));
        if (is_new)
            frames_.push_back(text());
        return entry->second;
    }

    const SymbolTables& symbols_;
    std::map<std::string, uint32_t> numbers_;
    std::vector<std::string> frames_;
};

Stacks find_stacks(const Model& model, const ExportQuery& query, Frames& frames) {
    Stacks stacks;
    const LabelledSums summed =
        sum_labelled_stacks(model, Classifier(model), query.window, query.by, query.filter);
    FramesUnder under(model.symbols(), query.under);
    std::vector<FunctionId> path;
    for (const LabelledSums::Entry& entry : summed.entries) {
        expand_stack(model.symbols(), entry.stack, path);
        const std::string& label = summed.labels[entry.label];
        if (!under.cut(label, path))
            continue;
        std::vector<uint32_t> numbers = {frames.label(label)};
        for (const FunctionId function : path)
            numbers.push_back(frames.function(function));
        stacks[std::move(numbers)] += entry.sums;
    }
    return stacks;
}

// `weight_of` what of a stack's sums the profile is about.
template <typename WeightOf>
void write_profile(const std::string& name, const Stacks& stacks, ByteSink& out,
                   WeightOf weight_of) {
    std::string samples, weights;
    double end = 0;
    for (const auto& [frames, sums] : stacks) {
        const double weight = std::round(weight_of(sums));
        if (weight <= 0)
            continue;
        end += weight;
        const char* comma = samples.empty() ? "" : ",";
        samples += fmt::format("{}[{}]", comma, fmt::join(frames, ","));
        weights += comma + json_number(weight);
    }
    out.write(fmt::format("{{\"type\":\"sampled\",\"name\":{},\"unit\":\"nanoseconds\","
                          "\"startValue\":0,\"endValue\":{},\"samples\":[",
                          json_text(name), json_number(end)));
    out.write(samples);
    out.write("],\"weights\":[");
    out.write(weights);
    out.write("]}");
}

} // namespace

Result<uint64_t> write_speedscope(const Model& model, const ExportQuery& query, ByteSink& out) {
    Frames frames(model);
    const Stacks stacks = find_stacks(model, query, frames);
    out.write("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
              "\"exporter\":\"auger\",\"name\":\"auger\",\"activeProfileIndex\":0,\"auger\":{"
              "\"losses\":[");
    const char* comma = "";
    for (const std::string& loss : export_losses(model, query)) {
        out.write(comma + json_text(loss));
        comma = ",";
    }
    out.write("],\"rules\":[");
    comma = "";
    for (const std::string& rule : export_rules(model)) {
        out.write(comma + json_text(rule));
        comma = ",";
    }
    out.write("]},\"shared\":{\"frames\":[");
    comma = "";
    for (const std::string& frame : frames.all()) {
        out.write(comma + frame);
        comma = ",";
    }
    out.write("]},\"profiles\":[");
    write_profile("all", stacks, out, [](const ClassSums& sums) { return sums.sum().weight_ns; });
    for (const CallClass one : all_call_classes) {
        if (!model.split().active || (query.filter.duration && *query.filter.duration != one))
            continue;
        out.write(",");
        write_profile(std::string(to_string(one)), stacks, out,
                      [one](const ClassSums& sums) { return sums[one].weight_ns; });
    }
    out.write("]}\n");
    return stacks.size();
}

} // namespace auger
