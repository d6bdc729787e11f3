// SPDX-License-Identifier: GPL-3.0-or-later
// Samples are summed up by stack first, then each stack is expanded once.
#include "views/model/function_pass.h"

namespace auger {

FunctionPass::FunctionPass(const Model& model, const Window& window, const ClassFilter& filter,
                           std::optional<FunctionFocus> focus, FrameChoice frames)
    : model_(model), focus_(focus), frames_(frames), pass_(model, window, filter),
      by_stack_(model.symbols().stacks() + 1) {}

bool FunctionPass::work(size_t samples) {
    if (!all_sampled_) {
        const SampleStore& store = model_.samples();
        const size_t undefined = by_stack_.size() - 1;
        all_sampled_ = !pass_.work(samples, [&](size_t i, CallClass c, double factor) {
            by_stack_[std::min(store.stacks()[i].index(), undefined)][c] +=
                sample_sum(store, i, factor);
        });
        return true;
    }
    // A stack is a few dozen functions.
    if (expand(std::max<size_t>(samples / 16, 1)))
        return true;
    finish();
    return false;
}

bool FunctionPass::expand(size_t stacks) {
    for (; stacks > 0 && next_stack_ < by_stack_.size(); next_stack_++) {
        const ClassSums& sums = by_stack_[next_stack_];
        if (sums.sum().samples == 0)
            continue;
        stacks--;
        expand_stack(model_.symbols(), StackId{next_stack_}, path_);
        std::erase_if(path_, [&](FunctionId function) {
            return !(focus_ && function == focus_->function) &&
                   !is_chosen(model_.symbols(), function, frames_);
        });
        if (focus_) {
            add_neighbours(sums);
            continue;
        }
        whole_ += sums;
        for (size_t i = 0; i < path_.size(); i++)
            add(path_[i], sums, i + 1 == path_.size());
    }
    return next_stack_ < by_stack_.size();
}

void FunctionPass::add(FunctionId function, const ClassSums& sums, bool self) {
    if (function.index() >= sums_.size()) {
        sums_.resize(std::max(function.index() + 1, model_.symbols().functions()));
        seen_.resize(sums_.size(), UINT32_MAX);
    }
    // Recursion: once a sample.
    if (seen_[function.index()] != next_stack_)
        sums_[function.index()].total += sums;
    seen_[function.index()] = next_stack_;
    if (self)
        sums_[function.index()].self += sums;
}

void FunctionPass::add_neighbours(const ClassSums& sums) {
    const FunctionId focus = focus_->function;
    const bool callers = focus_->kind == FunctionFocus::Kind::callers;
    bool found = false;
    for (size_t i = 0; i < path_.size(); i++) {
        if (path_[i] != focus || (i > 0 && path_[i - 1] == focus))
            continue; // a function that calls itself is one
        if (!std::exchange(found, true))
            whole_ += sums;
        size_t end = i + 1;
        while (end < path_.size() && path_[end] == focus)
            end++;
        if (callers && i > 0)
            add(path_[i - 1], sums, end == path_.size());
        else if (!callers && end < path_.size())
            add(path_[end], sums, end + 1 == path_.size());
        else
            none_ += sums;
    }
}

void FunctionPass::finish() {
    for (uint32_t i = 0; i < sums_.size(); i++) {
        if (sums_[i].total.sum().samples == 0)
            continue;
        sums_[i].function = FunctionId{i};
        present_.push_back(sums_[i]);
    }
    sums_ = {};
}

} // namespace auger
