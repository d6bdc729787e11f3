// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/flame_folding.h"

namespace auger {

FlameStream::Folding::Folding(const Model& model, const FlameQuery& query)
    : ClassedSamples(model, query.window, query.filter), query_(query),
      threads_version_(model.symbols().threads_version()),
      sweep_version_(model.symbols().names_version()) {
    tree_.begin_summing();
}

bool FlameStream::Folding::refresh(size_t& budget) {
    if (settle(budget))
        return true;
    follow_threads(budget);
    bool left = advance(budget);
    left |= follow_names(budget);
    if (!left && phase_ == Phase::summing) {
        phase_ = Phase::settling;
        left = settle(budget);
    }
    tree_.scale = scale();
    set_span(model(), query_.window, tree_);
    return left;
}

uint32_t FlameStream::Folding::label_id(const std::string& text) {
    auto [it, is_new] = label_ids_.try_emplace(text, static_cast<uint32_t>(tree_.labels.size()));
    if (is_new)
        tree_.labels.push_back(text);
    return it->second;
}

uint32_t FlameStream::Folding::label_of(uint64_t number) {
    size_t index = index_of(number);
    if (query_.by == GroupBy::cpu)
        return label_id("cpu " + std::to_string(model().samples().cpus()[index]));
    ThreadId id = model().samples().threads()[index];
    if (id.index() >= model().symbols().threads()) // a damaged stream
        return label_id(thread_label(model(), id, query_.by));
    if (id.index() >= threads_.size())
        threads_.resize(model().symbols().threads());
    Thread& thread = threads_[id.index()];
    thread.first_sample = std::min(thread.first_sample, number);
    if (thread.label == UINT32_MAX)
        thread.label = label_id(thread_label(model(), id, query_.by));
    return thread.label;
}

uint32_t FlameStream::Folding::place(uint64_t number) {
    StackId stack = model().samples().stacks()[index_of(number)];
    uint32_t label = label_of(number);
    uint64_t key = uint64_t{stack.value} << 32 | label;
    if (auto known = leaf_of_.find(key))
        return *known;
    expand_stack(model().symbols(), stack, path_);
    uint32_t leaf = tree_.add_leaf(label, path_, stack);
    leaf_of_.find_or_add(key, leaf);
    if (leaf >= leaves_.size())
        leaves_.resize(leaf + 1);
    leaves_[leaf] = {label, model().symbols().names_version(), true};
    return leaf;
}

bool FlameStream::Folding::settle(size_t& budget) {
    if (phase_ != Phase::settling)
        return false;
    for (; settle_at_ < leaves_.size(); settle_at_++) {
        if (budget == 0)
            return true;
        if (!leaves_[settle_at_].used)
            continue;
        tree_.settle(settle_at_);
        budget -= std::min<size_t>(budget, tree_.depth(settle_at_));
    }
    tree_.end_summing();
    phase_ = Phase::following;
    return false;
}

size_t FlameStream::Folding::put(uint32_t leaf, CallClass of, const SampleSum& sum, int32_t held) {
    size_t steps = phase_ == Phase::following ? tree_.depth(leaf) : 1;
    tree_.add(leaf, of, sum, held);
    if (tree_.held(leaf) == 0) {
        leaf_of_.erase(uint64_t{tree_.stack(leaf).value} << 32 | leaves_[leaf].label);
        leaves_[leaf].used = false;
        tree_.remove_leaf(leaf);
    }
    return steps;
}

// Whether the thread has another label than the tree shows.
bool FlameStream::Folding::relabel(ThreadId id) {
    if (id.index() >= threads_.size() || threads_[id.index()].label == UINT32_MAX)
        return false;
    uint32_t label = label_id(thread_label(model(), id, query_.by));
    return std::exchange(threads_[id.index()].label, label) != label;
}

void FlameStream::Folding::follow_threads(size_t& budget) {
    const SymbolTables& symbols = model().symbols();
    if (query_.by == GroupBy::cpu)
        return;
    std::vector<ThreadId> renamed;
    if (symbols.threads_version() != threads_version_) { // one was defined anew: rare
        threads_version_ = symbols.threads_version();
        for (uint32_t i = 0; i < threads_.size(); i++)
            if (relabel(ThreadId{i}))
                renamed.push_back(ThreadId{i});
    }
    for (; query_.by == GroupBy::process && threads_seen_ < symbols.threads(); threads_seen_++) {
        ThreadId id{static_cast<uint32_t>(threads_seen_)};
        const ThreadInfo& info = symbols.thread(id);
        std::vector<ThreadId>& others = threads_of_[info.pid];
        if (info.pid == info.tid)
            for (ThreadId other : others)
                if (relabel(other))
                    renamed.push_back(other);
        others.push_back(id);
    }
    if (renamed.empty())
        return;
    std::vector<uint8_t> is_renamed(threads_.size());
    uint64_t from = UINT64_MAX;
    for (ThreadId id : renamed) {
        is_renamed[id.index()] = 1;
        from = std::min(from, threads_[id.index()].first_sample);
    }
    size_t steps = replace(from, [&](size_t index) {
        size_t thread = model().samples().threads()[index].index();
        return thread < is_renamed.size() && is_renamed[thread];
    });
    budget -= std::min(budget, steps);
}

bool FlameStream::Folding::follow_names(size_t& budget) {
    const SymbolTables& symbols = model().symbols();
    while (true) {
        if (sweep_at_ >= leaves_.size()) {
            if (symbols.names_version() == sweep_version_)
                return false;
            sweep_version_ = symbols.names_version();
            sweep_at_ = 0;
        }
        for (; sweep_at_ < leaves_.size(); sweep_at_++) {
            if (budget == 0)
                return true;
            Leaf& leaf = leaves_[sweep_at_];
            budget--;
            if (!leaf.used)
                continue;
            const StackId id = tree_.stack(static_cast<uint32_t>(sweep_at_));
            std::span<const LocationId> stack = symbols.stack(id);
            bool renamed = false;
            for (LocationId location : stack)
                renamed |= symbols.named_at(location) > leaf.named_at;
            budget -= std::min(budget, stack.size() / 4);
            if (!renamed)
                continue;
            leaf.named_at = symbols.names_version();
            expand_stack(symbols, id, path_);
            tree_.move_leaf(static_cast<uint32_t>(sweep_at_), leaf.label, path_);
            budget -= std::min(budget, 4 * path_.size());
        }
    }
}

size_t FlameStream::Folding::memory_bytes() const {
    return ClassedSamples::memory_bytes() + tree_.memory_bytes() +
           leaves_.capacity() * sizeof(Leaf) + leaf_of_.memory_bytes() +
           threads_.capacity() * sizeof(Thread);
}

} // namespace auger
