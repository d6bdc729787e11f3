// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/flame_html.h"

#include "views/escape.h"
#include "views/exports/flame_page.h"
#include "views/exports/flame_parts.h"
#include "views/exports/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <unordered_map>

namespace auger {

namespace {

// Within a script element, "</script>" and "<!--" would end it.
std::string script_text(std::string_view raw) {
    std::string text = json_text(raw);
    for (size_t at = 0; (at = text.find('<', at)) != text.npos;)
        text.replace(at, 1, "\\u003c");
    return text;
}

class Page {
  public:
    Page(const Model& model, const ExportQuery& query, ByteSink& out)
        : model_(model), query_(query), out_(out),
          tree_(fold(model, query.window, query.filter, query.by, query.under)) {
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
    // [value,value,...] of every node.
    void write_column(const char* name, const std::function<std::string(uint32_t)>& value) {
        out_.write(fmt::format("\"{}\":[", name));
        for (size_t i = 0; i < order_.size(); i++)
            out_.write((i ? "," : "") + value(order_[i]));
        out_.write("],\n");
    }
    void write_data() {
        out_.write(fmt::format("{{\"title\":{},\"span\":{},\"split\":{},\n",
                               script_text(flame_title(model_, query_)),
                               script_text(flame_span(tree_)), model_.split().active));
        out_.write("\"classes\":[");
        for (const CallClass one : all_call_classes)
            out_.write((one == all_call_classes.front() ? "" : ",") + script_text(to_string(one)));
        out_.write("],\n");
        write_column("parent", [&](uint32_t node) {
            return std::to_string(numbers_[tree_.nodes[node].parent]);
        });
        write_column("kind", [&](uint32_t node) {
            return std::to_string(static_cast<int>(frame_kind(model_, tree_, node)));
        });
        write_column("name", [&](uint32_t node) { return std::to_string(name(node)); });
        out_.write("\"weights\":[");
        for (const CallClass one : all_call_classes) {
            out_.write(one == all_call_classes.front() ? "[" : ",[");
            for (size_t i = 0; i < order_.size(); i++)
                out_.write((i ? "," : "") +
                           json_number(std::round(tree_.classes(order_[i])[one].weight_ns)));
            out_.write("]");
        }
        out_.write("],\n\"names\":[");
        for (size_t i = 0; i < names_.size(); i++)
            out_.write((i ? "," : "") + script_text(names_[i]));
        out_.write("],\n");
        write_histogram();
        out_.write("\"losses\":[");
        const char* comma = "";
        for (const std::string& loss : export_losses(model_, query_)) {
            out_.write(comma + script_text(loss));
            comma = ",";
        }
        out_.write("],\n\"rules\":[");
        comma = "";
        for (const std::string& rule : export_rules(model_)) {
            out_.write(comma + script_text(rule));
            comma = ",";
        }
        out_.write("]}");
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
        out_.write(fmt::format("\"histogram\":{{\"probe\":{},\"calls\":{},\"threshold\":{},"
                               "\"buckets\":[",
                               script_text(probe->text), json_number(std::round(calls.returns)),
                               threshold.in_force() ? std::to_string(threshold.value_ns) : "null"));
        const char* comma = "";
        for (uint32_t i = 0; i < calls.durations.end_bucket(); i++) {
            const double count = calls.durations.count(i);
            if (count <= 0)
                continue;
            const uint64_t high = bucket_high(i) == UINT64_MAX ? bucket_low(i) : bucket_high(i);
            out_.write(fmt::format("{}[{},{},{}]", comma, bucket_low(i), high, json_number(count)));
            comma = ",";
        }
        out_.write("]},\n");
    }

    const Model& model_;
    const ExportQuery& query_;
    ByteSink& out_;
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
