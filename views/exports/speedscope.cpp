// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/speedscope.h"

#include "views/exports/json_stream.h"
#include "views/model/frames_under.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace auger {

namespace {

// A stack's frames by number, root first, and what was spent in it.
using Stacks = std::map<std::vector<uint32_t>, ClassSums>;

// Frames in the order of their numbers: labels, then functions as they come.
class Frames {
  public:
    explicit Frames(const Model& model) : symbols_(model.symbols()) {}

    uint32_t label(const std::string& raw) {
        return number("l" + raw, [&] { return Frame{raw, {}}; });
    }
    uint32_t function(FunctionId id) {
        return number("f" + std::to_string(id.value), [&] {
            return Frame{std::string(symbols_.name(id)),
                         symbols_.module(symbols_.function(id).module).path};
        });
    }
    void write(JsonStream& json) const {
        json.begin_list();
        for (const Frame& frame : frames_) {
            json.begin_object();
            json.key("name");
            json.text(frame.name);
            if (frame.file) {
                json.key("file");
                json.text(*frame.file);
            }
            json.end_object();
        }
        json.end_list();
    }

  private:
    struct Frame {
        std::string name;
        std::optional<std::string> file; // of a function
    };

    template <typename Make>
    uint32_t number(const std::string& key, Make make) {
        auto [entry, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(frames_.size()));
        if (is_new)
            frames_.push_back(make());
        return entry->second;
    }

    const SymbolTables& symbols_;
    std::map<std::string, uint32_t> numbers_;
    std::vector<Frame> frames_;
};

Stacks find_stacks(const Model& model, const ExportQuery& query, Frames& frames) {
    Stacks stacks;
    const LabelledSums summed =
        sum_labelled_stacks(model, Classifier(model), query.window, query.by, query.filter);
    FramesUnder under(model.symbols(), query.under);
    std::vector<FunctionId> path;
    for (const LabelledSums::Entry& entry : summed.entries) {
        expand_stack(model.symbols(), entry.stack, path, query.frames);
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
void write_profile(std::string_view name, const Stacks& stacks, JsonStream& json,
                   WeightOf weight_of) {
    // Stacks without any are left out.
    std::vector<double> weights;
    double end = 0;
    for (const auto& [frames, sums] : stacks) {
        weights.push_back(std::round(weight_of(sums)));
        end += std::max(weights.back(), 0.0);
    }
    json.begin_object();
    json.key("type");
    json.text("sampled");
    json.key("name");
    json.text(name);
    json.key("unit");
    json.text("nanoseconds");
    json.key("startValue");
    json.number(uint64_t{0});
    json.key("endValue");
    json.number(end);
    json.key("samples");
    json.begin_list();
    auto weight = weights.begin();
    for (const auto& [frames, sums] : stacks) {
        if (*weight++ <= 0)
            continue;
        json.begin_list();
        for (const uint32_t frame : frames)
            json.number(uint64_t{frame});
        json.end_list();
    }
    json.end_list();
    json.key("weights");
    json.begin_list();
    for (const double one : weights)
        if (one > 0)
            json.number(one);
    json.end_list();
    json.end_object();
}

} // namespace

Result<uint64_t> write_speedscope(const Model& model, const ExportQuery& query, ByteSink& out) {
    Frames frames(model);
    const Stacks stacks = find_stacks(model, query, frames);
    JsonStream json(out);
    json.begin_object();
    for (const auto& [key, text] :
         {std::pair{"$schema", "https://www.speedscope.app/file-format-schema.json"},
          {"exporter", "auger"},
          {"name", "auger"}}) {
        json.key(key);
        json.text(text);
    }
    json.key("activeProfileIndex");
    json.number(uint64_t{0});
    json.key("auger");
    json.begin_object();
    json.key("losses");
    json.texts(export_losses(model, query));
    json.key("rules");
    json.texts(export_rules(model));
    json.end_object();
    json.key("shared");
    json.begin_object();
    json.key("frames");
    frames.write(json);
    json.end_object();
    json.key("profiles");
    json.begin_list();
    write_profile("all", stacks, json, [](const ClassSums& sums) { return sums.sum().weight_ns; });
    for (const CallClass one : all_call_classes) {
        if (!model.split().active || (query.filter.duration && *query.filter.duration != one))
            continue;
        write_profile(to_string(one), stacks, json,
                      [one](const ClassSums& sums) { return sums[one].weight_ns; });
    }
    json.end_list();
    json.end_object();
    out.write("\n");
    return stacks.size();
}

} // namespace auger
