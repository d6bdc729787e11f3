// SPDX-License-Identifier: GPL-3.0-or-later
// Folding in two steps: samples are summed up by stack and label, and only then is each distinct
// stack expanded once.
#include "views/model/fold.h"

#include "views/model/flat_map.h"
#include "views/model/frames_under.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace auger {

namespace {

// Adds every sample of the window to sum_of(its index).
template <typename SumOf>
void sum_up(const Model& model, const Classifier& classify, const Window& window,
            const ClassFilter& filter, SumOf sum_of) {
    ClassTest is_shown(model, classify, filter);
    const SampleStore& samples = model.samples();
    const uint64_t* times = samples.times();
    const uint64_t* weights = samples.weights();
    const CallIndex* calls = samples.calls();
    const SampleKind* kinds = samples.kinds();
    uint64_t now = model.now_ns();
    bool everything = window == Window{};

    for (size_t i = 0; i < samples.size(); i++) {
        double factor = everything ? 1 : window.weight(times[i], now);
        if (factor == 0 || !is_shown(calls[i], times[i], samples.threads()[i], samples.stacks()[i]))
            continue;
        SampleSum& sum = sum_of(i)[classify(calls[i], times[i])];
        double weight = factor * static_cast<double>(weights[i]);
        sum.samples += factor;
        sum.weight_ns += weight;
        if (kinds[i] == SampleKind::blocked)
            sum.blocked_ns += weight;
        else if (kinds[i] == SampleKind::runnable)
            sum.runnable_ns += weight;
    }
}

// The label of each sample, by its index in the store; adds what is new to `labels`.
class Labels {
  public:
    Labels(const Model& model, GroupBy by, std::vector<std::string>& labels)
        : model_(model), samples_(model.samples()), by_(by), labels_(labels) {
        if (!by_.is_by_thread())
            return;
        // The last: of undefined threads.
        of_thread_.resize(model.symbols().threads() + 1);
        for (uint32_t i = 0; i < of_thread_.size(); i++)
            of_thread_[i] = number_of(by.label(model, ThreadId{i}));
    }

    uint32_t operator()(size_t sample) {
        const ThreadId thread = samples_.threads()[sample];
        if (by_.is_by_thread())
            return of_thread_[std::min(thread.index(), of_thread_.size() - 1)];
        const StackId stack = samples_.stacks()[sample];
        const uint16_t cpu = samples_.cpus()[sample];
        const uint64_t key = by_ == GroupBy::cpu ? cpu : uint64_t{stack.value} << 32 | thread.value;
        if (const auto known = of_key_.find(key); known != of_key_.end())
            return known->second;
        const uint32_t number = number_of(by_.label(model_, thread, stack, cpu));
        of_key_.emplace(key, number);
        return number;
    }

  private:
    uint32_t number_of(const std::string& text) {
        const auto [label, is_new] =
            known_.try_emplace(text, static_cast<uint32_t>(labels_.size()));
        if (is_new)
            labels_.push_back(text);
        return label->second;
    }

    const Model& model_;
    const SampleStore& samples_;
    GroupBy by_;
    std::vector<std::string>& labels_;
    std::map<std::string, uint32_t> known_;
    std::vector<uint32_t> of_thread_;
    std::unordered_map<uint64_t, uint32_t> of_key_; // by CPU, or by stack and thread
};

} // namespace

std::vector<ClassSums> sum_stacks(const Model& model, const Classifier& classify,
                                  const Window& window, const ClassFilter& filter) {
    // A damaged stream may name what it never defined: those share the last place.
    size_t defined = model.symbols().stacks();
    std::vector<ClassSums> sums(defined + 1);
    const StackId* stacks = model.samples().stacks();
    sum_up(model, classify, window, filter,
           [&](size_t i) -> ClassSums& { return sums[std::min(stacks[i].index(), defined)]; });
    return sums;
}

LabelledSums sum_labelled_stacks(const Model& model, const Classifier& classify,
                                 const Window& window, GroupBy by, const ClassFilter& filter) {
    LabelledSums result;
    Labels label_of(model, by, result.labels);
    const StackId* stacks = model.samples().stacks();
    FlatMap found;
    sum_up(model, classify, window, filter, [&](size_t i) -> ClassSums& {
        uint32_t label = label_of(i);
        auto [entry, is_new] = found.find_or_add(uint64_t{stacks[i].value} << 32 | label,
                                                 static_cast<uint32_t>(result.entries.size()));
        if (is_new)
            result.entries.push_back({stacks[i], label, {}});
        return result.entries[entry].sums;
    });
    return result;
}

void expand_stack(const SymbolTables& symbols, StackId stack, std::vector<FunctionId>& out,
                  FrameChoice frames_shown) {
    out.clear();
    std::span<const LocationId> locations = symbols.stack(stack);
    const auto probe = symbols.probe_function();
    const size_t handling = probe ? symbols.probe_handling(locations) : 0;
    for (auto location = locations.rbegin(); location != locations.rend(); ++location) {
        if (handling && locations.rend() - location == static_cast<ptrdiff_t>(handling))
            out.push_back(*probe);
        std::span<const FrameEntry> frames = symbols.frames(*location);
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
            out.push_back(frame->function);
    }
    keep_chosen(symbols, frames_shown, out);
    if (symbols.rules().fold_recursion())
        out.erase(std::unique(out.begin(), out.end()), out.end());
}

void set_span(const Model& model, const Window& window, FlameTree& tree) {
    tree.to_ns = window.until(model.now_ns());
    tree.from_ns = window.since(model.first_ns(), model.now_ns());
    if (model.samples_evicted())
        tree.from_ns = std::max(tree.from_ns, model.samples().oldest().time_ns);
    tree.decayed = window.kind == Window::Kind::ewma;
}

FlameTree fold(const Model& model, const Window& window, const ClassFilter& filter, GroupBy by,
               const std::string& under, FrameChoice frames_shown) {
    FlameTree tree;
    set_span(model, window, tree);
    LabelledSums summed = sum_labelled_stacks(model, Classifier(model), window, by, filter);
    tree.labels = std::move(summed.labels);
    FramesUnder frames(model.symbols(), under);
    std::vector<FunctionId> path;
    for (const LabelledSums::Entry& entry : summed.entries) {
        expand_stack(model.symbols(), entry.stack, path, frames_shown);
        if (!frames.cut(tree.labels[entry.label], path))
            continue;
        uint32_t leaf = tree.add_leaf(entry.label, path, entry.stack);
        for (CallClass c : all_call_classes)
            if (entry.sums[c].samples > 0)
                tree.add(leaf, c, entry.sums[c]);
    }
    return tree;
}

std::string_view node_name(const Model& model, const FlameTree& tree, const FlameNode& node) {
    if (node.depth == 0)
        return "all";
    return node.depth == 1 ? tree.labels[node.label] : model.symbols().name(node.function);
}

std::vector<FunctionSums> sum_functions(const Model& model, const Window& window,
                                        const ClassFilter& filter, FrameChoice frames_shown) {
    std::vector<FunctionSums> functions(model.symbols().functions());
    std::vector<uint32_t> seen(functions.size(), UINT32_MAX);
    std::vector<ClassSums> sums = sum_stacks(model, Classifier(model), window, filter);
    std::vector<FunctionId> path;
    for (uint32_t i = 0; i < sums.size(); i++) {
        const ClassSums& sum = sums[i];
        if (sum.sum().samples == 0)
            continue;
        expand_stack(model.symbols(), StackId{i}, path, frames_shown);
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
