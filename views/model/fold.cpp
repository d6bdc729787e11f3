// SPDX-License-Identifier: GPL-3.0-or-later
// Folding in two steps: samples are summed up by trace (one indexed addition a sample), and only
// then is each distinct stack expanded once.
#include "views/model/fold.h"

#include <algorithm>

namespace auger {

std::vector<ClassSums> sum_traces(const Model& model, const Classifier& classify,
                                  const Window& window) {
    std::vector<ClassSums> sums(model.traces().size());
    const SampleStore& samples = model.samples();
    const uint64_t* times = samples.times();
    const uint64_t* weights = samples.weights();
    const TraceId* traces = samples.traces();
    const CallIndex* calls = samples.calls();
    const SampleKind* kinds = samples.kinds();
    uint64_t now = model.now_ns();
    bool everything = window.kind == Window::Kind::all;

    for (size_t i = 0; i < samples.size(); i++) {
        double factor = everything ? 1 : window.weight(times[i], now);
        if (factor == 0)
            continue;
        SampleSum& sum = sums[traces[i].index()][classify(calls[i], times[i])];
        sum.samples += factor;
        double weight = factor * static_cast<double>(weights[i]);
        sum.weight_ns += weight;
        if (kinds[i] == SampleKind::blocked)
            sum.blocked_ns += weight;
        else if (kinds[i] == SampleKind::runnable)
            sum.runnable_ns += weight;
    }
    return sums;
}

void expand_stack(const SymbolTables& symbols, StackId stack, std::vector<FunctionId>& out) {
    out.clear();
    std::span<const LocationId> locations = symbols.stack(stack);
    for (auto location = locations.rbegin(); location != locations.rend(); ++location) {
        std::span<const FrameEntry> frames = symbols.frames(*location);
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
            out.push_back(frame->function);
    }
}

namespace {

class TreeBuilder {
  public:
    explicit TreeBuilder(std::vector<FlameNode>& nodes) : nodes_(nodes) { nodes_.emplace_back(); }

    uint32_t child(uint32_t parent, uint32_t key) {
        auto [node, is_new] = children_.find_or_add(uint64_t{parent} << 32 | key,
                                                    static_cast<uint32_t>(nodes_.size()));
        if (is_new) {
            FlameNode fresh;
            fresh.parent = parent;
            fresh.depth = nodes_[parent].depth + 1;
            fresh.next_sibling = nodes_[parent].first_child;
            (fresh.depth == 1 ? fresh.comm.value : fresh.function.value) = key;
            nodes_.push_back(fresh);
            nodes_[parent].first_child = node;
        }
        return node;
    }

  private:
    std::vector<FlameNode>& nodes_;
    FlatMap children_;
};

ClassSums filtered(const ClassSums& sums, ClassFilter filter) {
    if (!filter)
        return sums;
    ClassSums one;
    one[*filter] = sums[*filter];
    return one;
}

void set_span(const Model& model, const Window& window, FlameTree& tree) {
    tree.to_ns = model.now_ns();
    tree.from_ns = model.first_ns();
    if (model.samples_evicted())
        tree.from_ns = std::max(tree.from_ns, model.samples().oldest().time_ns);
    if (window.kind == Window::Kind::last && tree.to_ns > window.span_ns)
        tree.from_ns = std::max(tree.from_ns, tree.to_ns - window.span_ns);
    tree.decayed = window.kind == Window::Kind::ewma;
}

} // namespace

FlameTree fold(const Model& model, const Window& window, ClassFilter filter) {
    FlameTree tree;
    set_span(model, window, tree);
    TreeBuilder builder(tree.nodes);
    std::vector<ClassSums> sums = sum_traces(model, Classifier(model), window);
    std::vector<FunctionId> path;
    for (size_t i = 0; i < sums.size(); i++) {
        ClassSums sum = filtered(sums[i], filter);
        if (sum.sum().samples == 0)
            continue;
        const Trace& trace = model.traces()[i];
        expand_stack(model.symbols(), trace.stack, path);
        uint32_t node = builder.child(0, trace.comm.value);
        for (FunctionId function : path)
            node = builder.child(node, function.value);
        tree.nodes[node].self += sum;
    }
    // Parents come before their children, so one pass backwards sums up.
    for (size_t i = tree.nodes.size(); i-- > 0;) {
        tree.nodes[i].total += tree.nodes[i].self;
        if (i > 0)
            tree.nodes[tree.nodes[i].parent].total += tree.nodes[i].total;
    }
    return tree;
}

std::string_view node_name(const Model& model, const FlameNode& node) {
    if (node.depth == 0)
        return "all";
    return node.depth == 1 ? model.comm(node.comm) : model.symbols().name(node.function);
}

std::vector<FunctionSums> sum_functions(const Model& model, const Window& window,
                                        ClassFilter filter) {
    std::vector<FunctionSums> functions(model.symbols().functions());
    std::vector<uint32_t> seen(functions.size(), UINT32_MAX);
    std::vector<ClassSums> sums = sum_traces(model, Classifier(model), window);
    std::vector<FunctionId> path;
    for (uint32_t i = 0; i < sums.size(); i++) {
        ClassSums sum = filtered(sums[i], filter);
        if (sum.sum().samples == 0)
            continue;
        expand_stack(model.symbols(), model.traces()[i].stack, path);
        for (FunctionId function : path) {
            if (seen[function.index()] == i)
                continue; // recursion: once a sample
            seen[function.index()] = i;
            functions[function.index()].total += sum;
        }
        if (!path.empty())
            functions[path.back().index()].self += sum;
    }
    std::vector<FunctionSums> present;
    for (uint32_t i = 0; i < functions.size(); i++)
        if (functions[i].total.sum().samples > 0) {
            functions[i].function = FunctionId{i};
            present.push_back(functions[i]);
        }
    return present;
}

} // namespace auger
