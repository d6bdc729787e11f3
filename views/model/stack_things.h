// SPDX-License-Identifier: GPL-3.0-or-later
// What each stack of addresses adds to in a comparison, once per sample: the functions on it and
// its place as a stack of functions.
#pragma once

#include "views/model/flat_map.h"
#include "views/model/fold.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace auger {

class StackThings {
  public:
    StackThings(const Model& model, FrameChoice frames)
        : model_(model), frames_(frames), things_(model.symbols().stacks() + 1) {
        for (const SpecInfo& spec : model.specs())
            if (spec.probe == model.split().probe)
                probed_.insert(without_arguments(without_call_site(spec.function)));
    }

    struct Things {
        bool known = false;
        uint32_t stack = 0;
        // In pools: every sample looks its functions up, so they lie close together.
        uint32_t first_function = 0, functions = 0; // distinct
        uint32_t first_edge = 0, edges = 0;         // distinct
    };
    const Things& operator[](StackId id) {
        Things& things = things_[id.index()];
        if (!things.known)
            find_things(id, things);
        return things;
    }
    // Whether it has been looked at already: the first time takes longer.
    bool known(StackId id) const { return things_[id.index()].known; }
    struct Edge {
        FunctionId caller;
        FunctionId callee;
    };
    const std::vector<Edge>& edges() const { return edges_; }
    std::span<const FunctionId> functions(const Things& things) const {
        return {function_pool_.data() + things.first_function, things.functions};
    }
    std::span<const uint32_t> edges(const Things& things) const {
        return {edge_pool_.data() + things.first_edge, things.edges};
    }
    // Whether it is one that the split is on, as it is shown.
    bool is_split_function(FunctionId shown) const { return split_functions_.contains(shown); }
    size_t stacks() const { return stack_paths_.size(); }
    const std::vector<FunctionId>& stack_path(size_t stack) const { return stack_paths_[stack]; }

  private:
    // "ns::f(int) [clone .cold]" and "ns::f(int)" are the same function to a reader.
    static std::string without_arguments(std::string_view name) {
        if (name.starts_with('('))
            return std::string(name);
        return std::string(name.substr(0, name.find('(')));
    }

    // "recv@main.cc:9 in f" times calls of recv.
    static std::string_view without_call_site(std::string_view name) {
        return name.substr(0, name.find('@'));
    }

    bool is_probed(FunctionId function) {
        if (function.index() >= is_probed_.size())
            is_probed_.resize(model_.symbols().functions(), -1);
        int8_t& known = is_probed_[function.index()];
        if (known < 0)
            known = probed_.contains(without_arguments(model_.symbols().name(function)));
        return known;
    }

    // The stack's functions within the call. Callers are on every sample of the call and explain
    // nothing. A stack without the probed function (broken, or inside its prologue) keeps all of
    // its frames. Probes know functions by the names that they were found with.
    void expand_call(StackId id) {
        const SymbolTables& symbols = model_.symbols();
        path_.clear();
        bool inside = false;
        const auto locations = symbols.stack(id);
        for (auto location = locations.rbegin(); location != locations.rend(); ++location) {
            const auto frames = symbols.found_frames(*location);
            for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
                const bool enters = !inside && is_probed(frame->function);
                if (enters) {
                    inside = true;
                    path_.clear();
                }
                if (const auto function = symbols.shown(frame->function);
                    function && (enters || is_chosen(symbols, *function, frames_))) {
                    path_.push_back(*function);
                    if (enters)
                        split_functions_.insert(*function);
                }
            }
        }
        if (symbols.rules().fold_recursion())
            path_.erase(std::unique(path_.begin(), path_.end()), path_.end());
    }

    void find_things(StackId id, Things& things) {
        things.known = true;
        expand_call(id);
        uint32_t node = 0;
        std::vector<uint32_t> edges;
        for (size_t i = 0; i < path_.size(); i++) {
            FunctionId f = path_[i];
            node = nodes_.find_or_add(uint64_t{node} << 32 | f.value, uint32_t(nodes_.size() + 1))
                       .first;
            if (i > 0 && path_[i - 1] != f)
                edges.push_back(intern_edge(path_[i - 1], f));
        }
        auto [stack, is_new] = stack_ids_.find_or_add(node, uint32_t(stack_paths_.size()));
        if (is_new)
            stack_paths_.push_back(path_);
        things.stack = stack;

        std::vector<FunctionId> functions = path_;
        std::tie(things.first_function, things.functions) = put_distinct(functions, function_pool_);
        std::tie(things.first_edge, things.edges) = put_distinct(edges, edge_pool_);
    }

    template <typename T>
    static std::pair<uint32_t, uint32_t> put_distinct(std::vector<T>& items, std::vector<T>& pool) {
        std::sort(items.begin(), items.end());
        items.erase(std::unique(items.begin(), items.end()), items.end());
        auto first = static_cast<uint32_t>(pool.size());
        pool.insert(pool.end(), items.begin(), items.end());
        return {first, static_cast<uint32_t>(items.size())};
    }

    uint32_t intern_edge(FunctionId caller, FunctionId callee) {
        auto [edge, is_new] = edge_ids_.find_or_add(uint64_t{caller.value} << 32 | callee.value,
                                                    uint32_t(edges_.size()));
        if (is_new)
            edges_.push_back({caller, callee});
        return edge;
    }

    const Model& model_;
    const FrameChoice frames_; // but for the split's own function
    std::set<std::string> probed_;
    std::vector<int8_t> is_probed_; // by function: -1 not looked at yet
    std::vector<Things> things_;
    FlatMap nodes_, edge_ids_, stack_ids_;
    std::vector<Edge> edges_;
    std::vector<std::vector<FunctionId>> stack_paths_;
    std::vector<FunctionId> function_pool_;
    std::vector<uint32_t> edge_pool_;
    std::vector<FunctionId> path_;
    std::set<FunctionId> split_functions_;
};

} // namespace auger
