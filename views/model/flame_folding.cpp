// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/flame_folding.h"

#include <algorithm>

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
    bool left = follow_threads(budget);
    left |= advance(budget);
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
    if (const auto known = label_ids_.find(text); known != label_ids_.end())
        return known->second;
    auto label = static_cast<uint32_t>(tree_.labels.size());
    if (free_labels_.empty()) {
        tree_.labels.emplace_back();
        label_uses_.push_back(0);
    } else {
        label = free_labels_.back();
        free_labels_.pop_back();
    }
    tree_.labels[label] = text;
    label_ids_.emplace(text, label);
    return label;
}

void FlameStream::Folding::drop_label(uint32_t label) {
    if (--label_uses_[label])
        return;
    label_ids_.erase(tree_.labels[label]);
    tree_.labels[label].clear();
    free_labels_.push_back(label);
}

uint32_t FlameStream::Folding::label_of(uint64_t number) {
    size_t index = index_of(number);
    const SampleStore& samples = model().samples();
    ThreadId id = samples.threads()[index];
    if (!query_.by.is_by_thread())
        return label_id(
            query_.by.label(model(), id, samples.stacks()[index], samples.cpus()[index]));
    if (id.index() >= model().symbols().threads()) // a damaged stream
        return label_id(query_.by.label(model(), id));
    Thread& thread = threads_[id.index()];
    thread.first_sample = std::min(thread.first_sample, number);
    if (thread.label == no_label_yet) {
        thread.label = label_id(query_.by.label(model(), id));
        use_label(thread.label);
    }
    return thread.label;
}

uint32_t FlameStream::Folding::place(uint64_t number) {
    StackId stack = model().samples().stacks()[index_of(number)];
    uint32_t label = label_of(number);
    uint64_t key = uint64_t{stack.value} << 32 | label;
    if (auto known = leaf_of_.find(key))
        return *known;
    expand_stack(model().symbols(), stack, path_, query_.frames);
    uint32_t leaf = tree_.add_leaf(label, path_, stack);
    use_label(label);
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
        drop_label(leaves_[leaf].label);
    }
    return steps;
}

// Whether the thread has another label than the tree shows.
bool FlameStream::Folding::relabel(ThreadId id) {
    uint32_t& label = threads_[id.index()].label;
    if (label == no_label_yet)
        return false;
    const uint32_t now = label_id(query_.by.label(model(), id));
    if (now == label)
        return false;
    use_label(now);
    drop_label(std::exchange(label, now)); // leaves that are to move still use it
    return true;
}

void FlameStream::Folding::relabel_all(const std::vector<ThreadId>& threads,
                                       std::vector<ThreadId>& renamed) {
    for (ThreadId thread : threads)
        if (relabel(thread))
            renamed.push_back(thread);
}

// A thread that is new, or new under its id.
void FlameStream::Folding::know_thread(ThreadId id, std::vector<ThreadId>& renamed) {
    const ThreadInfo& info = model().symbols().thread(id);
    threads_[id.index()].process = process_key(info);
    threads_[id.index()].pid = info.pid;
    threads_[id.index()].tid = info.tid;
    if (query_.by != GroupBy::process)
        return;
    std::vector<ThreadId>& others = threads_of_[process_key(info)];
    if (info.pid == info.tid)
        relabel_all(others, renamed);
    others.push_back(id);
}

// Nothing that is stored is of the thread that had the id; what is still in the tree of it leaves
// with its samples.
void FlameStream::Folding::forget_thread(ThreadId id, std::vector<ThreadId>& renamed) {
    const Thread gone = std::exchange(threads_[id.index()], {});
    if (gone.label != no_label_yet)
        drop_label(gone.label);
    const auto others = threads_of_.find(gone.process);
    if (others == threads_of_.end())
        return;
    std::erase(others->second, id);
    if (gone.pid == gone.tid) // the process has lost the name of its main thread
        relabel_all(others->second, renamed);
    if (others->second.empty())
        threads_of_.erase(others);
}

bool FlameStream::Folding::follow_threads(size_t& budget) {
    const SymbolTables& symbols = model().symbols();
    if (!query_.by.is_by_thread())
        return false;
    std::vector<ThreadId> renamed;
    const auto look_again = [&](ThreadId id) {
        const ThreadInfo& info = symbols.thread(id);
        const Thread& thread = threads_[id.index()];
        if (thread.process != process_key(info) || thread.tid != info.tid) {
            forget_thread(id, renamed);
            know_thread(id, renamed);
            return;
        }
        if (relabel(id))
            renamed.push_back(id);
        if (const auto others = threads_of_.find(process_key(info));
            info.pid == info.tid && others != threads_of_.end())
            relabel_all(others->second, renamed);
    };
    const size_t known = threads_.size();
    if (symbols.threads_version() != threads_version_) {
        if (const auto redefined = symbols.threads_redefined_since(threads_version_)) {
            for (ThreadId id : *redefined)
                if (id.index() < known)
                    look_again(id);
        } else {
            for (uint32_t i = 0; i < known; i++)
                look_again(ThreadId{i});
        }
        threads_version_ = symbols.threads_version();
    }
    threads_.resize(symbols.threads());
    for (size_t i = known; i < threads_.size(); i++)
        know_thread(ThreadId{static_cast<uint32_t>(i)}, renamed);
    is_renamed_.resize(threads_.size());
    for (ThreadId id : renamed) {
        is_renamed_[id.index()] = 1;
        move_from_ = std::min(move_from_, threads_[id.index()].first_sample);
    }
    return move_renamed(budget);
}

// Samples of threads with another label, a slice at a time.
bool FlameStream::Folding::move_renamed(size_t& budget) {
    if (move_from_ == UINT64_MAX)
        return false;
    const auto moves = [this](size_t index) {
        const size_t thread = model().samples().threads()[index].index();
        return thread < is_renamed_.size() && is_renamed_[thread];
    };
    if (replace(move_from_, moves, budget))
        return true;
    move_from_ = UINT64_MAX;
    std::ranges::fill(is_renamed_, 0);
    return false;
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
            expand_stack(symbols, id, path_, query_.frames);
            tree_.move_leaf(static_cast<uint32_t>(sweep_at_), leaf.label, path_);
            budget -= std::min(budget, 4 * path_.size());
        }
    }
}

size_t FlameStream::Folding::memory_bytes() const {
    return ClassedSamples::memory_bytes() + tree_.memory_bytes() +
           leaves_.capacity() * sizeof(Leaf) + leaf_of_.memory_bytes() +
           threads_.capacity() * sizeof(Thread) +
           tree_.labels.capacity() * (2 * sizeof(std::string) + 2 * sizeof(uint32_t));
}

} // namespace auger
