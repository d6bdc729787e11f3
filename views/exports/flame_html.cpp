// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/flame_html.h"

#include "views/exports/flame_page.h"
#include "views/exports/flame_parts.h"
#include "views/exports/json_stream.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <unordered_map>

namespace auger {

namespace {

class Page {
  public:
    Page(const Model& model, const ExportQuery& query, ByteSink& out)
        : model_(model), query_(query), out_(out), json_(out, JsonStream::Within::script),
          tree_(fold(model, query.window, query.filter, query.by, query.under, query.frames)) {
        number_nodes();
    }

    uint64_t write() {
        const size_t place = flame_page.find("/*DATA*/null");
        out_.write(flame_page.substr(0, place));
        write_data();
        out_.write(flame_page.substr(place + std::string_view("/*DATA*/null").size()));
        return order_.size() - 1;
    }

  private:
    // Parents before children.
    void number_nodes() {
        numbers_.resize(tree_.nodes.size());
        order_.push_back(0);
        for (size_t i = 0; i < order_.size(); i++) {
            numbers_[order_[i]] = static_cast<uint32_t>(i);
            const uint32_t first = tree_.nodes[order_[i]].first_child;
            for (uint32_t child = first; child; child = tree_.nodes[child].next_sibling)
                order_.push_back(child);
        }
    }
    // What `value` says of every node.
    template <typename Value>
    void write_column(const char* name, Value value) {
        json_.new_line();
        json_.key(name);
        json_.begin_list();
        for (const uint32_t node : order_)
            json_.number(value(node));
        json_.end_list();
    }
    void write_data() {
        json_.begin_object();
        json_.key("title");
        json_.text(flame_title(model_, query_));
        json_.key("span");
        json_.text(flame_span(tree_));
        json_.key("split");
        json_.value(model_.split().active);
        json_.new_line();
        json_.key("classes");
        json_.begin_list();
        for (const CallClass one : all_call_classes)
            json_.text(to_string(one));
        json_.end_list();
        write_column("parent",
                     [&](uint32_t node) { return uint64_t{numbers_[tree_.nodes[node].parent]}; });
        write_column("kind", [&](uint32_t node) {
            return static_cast<uint64_t>(frame_kind(model_, tree_, node));
        });
        write_column("name", [&](uint32_t node) { return uint64_t{name(node)}; });
        json_.new_line();
        json_.key("weights");
        json_.begin_list();
        for (const CallClass one : all_call_classes) {
            json_.begin_list();
            for (const uint32_t node : order_)
                json_.number(std::round(tree_.classes(node)[one].weight_ns));
            json_.end_list();
        }
        json_.end_list();
        json_.new_line();
        json_.key("names");
        json_.texts(names_);
        write_histogram();
        json_.new_line();
        json_.key("losses");
        json_.texts(export_losses(model_, query_));
        json_.new_line();
        json_.key("rules");
        json_.texts(export_rules(model_));
        json_.end_object();
    }
    size_t name(uint32_t node) {
        const std::string_view text = node_name(model_, tree_, tree_.nodes[node]);
        auto [entry, is_new] = name_numbers_.try_emplace(std::string(text), names_.size());
        if (is_new)
            names_.emplace_back(text);
        return entry->second;
    }
    void write_histogram() {
        const ProbeInfo* probe = model_.find_probe(model_.split().probe);
        if (!model_.split().active || !probe)
            return;
        const CallStatistics calls = model_.probe_statistics(probe->id, query_.window);
        if (calls.returns <= 0)
            return;
        const ThresholdState threshold = model_.split_state();
        json_.new_line();
        json_.key("histogram");
        json_.begin_object();
        json_.key("probe");
        json_.text(probe->text);
        json_.key("calls");
        json_.number(std::round(calls.returns));
        json_.key("threshold");
        json_.value(threshold.in_force() ? nlohmann::ordered_json(threshold.value_ns) : nullptr);
        json_.key("buckets");
        json_.begin_list();
        for (uint32_t i = 0; i < calls.durations.end_bucket(); i++) {
            const double count = calls.durations.count(i);
            if (count <= 0)
                continue;
            json_.begin_list();
            json_.number(bucket_low(i));
            json_.number(bucket_high(i) == UINT64_MAX ? bucket_low(i) : bucket_high(i));
            json_.number(count);
            json_.end_list();
        }
        json_.end_list();
        json_.end_object();
    }

    const Model& model_;
    const ExportQuery& query_;
    ByteSink& out_;
    JsonStream json_;
    FlameTree tree_;
    std::vector<uint32_t> order_;
    std::vector<uint32_t> numbers_; // by node
    std::unordered_map<std::string, size_t> name_numbers_;
    std::vector<std::string> names_;
};

} // namespace

Result<uint64_t> write_flame_html(const Model& model, const ExportQuery& query, ByteSink& out) {
    return Page(model, query, out).write();
}

} // namespace auger
