// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/classed_samples.h"

#include <cmath>
#include <tuple>

namespace auger {

namespace {

constexpr uint32_t no_group = UINT32_MAX;
// Time constants after which a sample is not kept: it would count 2e-9 of a new one.
constexpr uint64_t faint = 20;
// Time constants that a landmark serves for: e^400 and the sums of it are far from overflow.
constexpr double reach = 400;
// More overwritten samples than these at once are not taken out one by one.
constexpr uint64_t many = 200'000;

bool same(const SplitInfo& a, const SplitInfo& b) {
    auto parts = [](const SplitInfo& s) {
        return std::tie(s.active, s.probe, s.threshold, s.so_far, s.branch, s.label, s.branch_bit,
                        s.branch_since_ns, s.branch_until_ns, s.label_since_ns, s.label_until_ns);
    };
    return parts(a) == parts(b);
}

} // namespace

// Of one refresh.
struct ClassedSamples::Decider {
    explicit Decider(const ClassedSamples& of)
        : classify(of.model_, Classifier::For::a_few), test(of.model_, classify, of.filter_) {}
    // But for what is asked of the sample's stack.
    Verdict operator()(CallIndex decisive, uint64_t time_ns, ThreadId thread) const {
        return {test.fits_call(decisive, time_ns, thread), classify(decisive, time_ns)};
    }
    Classifier classify;
    ClassTest test;
};

ClassedSamples::ClassedSamples(const Model& model, const Window& window, const ClassFilter& filter)
    : model_(model), window_(window), filter_(filter), split_(model.split()), only_(model.only()),
      kept_stacks_(model.kept_stacks()), threshold_(model.split_state()),
      first_(model.samples_evicted()), names_version_(model.symbols().names_version()),
      landmark_ns_(window.until(model.now_ns())) {}

bool ClassedSamples::can_follow() const {
    if (!same(model_.split(), split_) || !(model_.only() == only_) ||
        !(model_.kept_stacks() == kept_stacks_))
        return false;
    // By so-far the class of each sample depends on the threshold, not that of its call.
    ThresholdState now = model_.split_state();
    bool moved = now.in_force() != threshold_.in_force() || now.value_ns != threshold_.value_ns;
    if (split_.so_far && moved)
        return false;
    if (window_.kind == Window::Kind::ewma &&
        time_constants(window_.until(model_.now_ns())) > reach)
        return false;
    return samples_.empty() || model_.samples_evicted() <= first_ + many;
}

double ClassedSamples::time_constants(uint64_t time_ns) const {
    const auto tau = static_cast<double>(std::max<uint64_t>(1, window_.span_ns));
    return time_ns >= landmark_ns_ ? static_cast<double>(time_ns - landmark_ns_) / tau
                                   : -static_cast<double>(landmark_ns_ - time_ns) / tau;
}

double ClassedSamples::growth(uint64_t time_ns) const {
    return window_.kind == Window::Kind::ewma ? std::exp(time_constants(time_ns)) : 1;
}

double ClassedSamples::scale() const {
    return 1 / growth(window_.until(model_.now_ns()));
}

SampleSum ClassedSamples::sum_of(const Sample& sample) const {
    double factor = growth(sample.time_ns);
    double weight = factor * static_cast<double>(sample.weight_ns);
    return {factor, weight, sample.kind == SampleKind::blocked ? weight : 0,
            sample.kind == SampleKind::runnable ? weight : 0};
}

uint64_t ClassedSamples::oldest_in_window() const {
    uint64_t end = window_.until(model_.now_ns()), span = window_.span_ns;
    if (window_.kind == Window::Kind::ewma)
        span = span > UINT64_MAX / faint ? UINT64_MAX : span * faint;
    return window_.kind != Window::Kind::all && end > span ? end - span : 0;
}

bool ClassedSamples::advance(size_t& budget) {
    if (drop_overwritten(budget)) // before that a group may name a call that is another one now
        return true;
    bool left = drop_expired(budget);
    Decider decide(*this);
    left |= reconsider(decide, budget);
    left |= follow_stacks(decide, budget);
    left |= take_in(decide, budget);
    return left;
}

// A sample's sums are taken out of wherever they were put.
size_t ClassedSamples::leave(Sample& sample, bool fades) {
    sample.left = true;
    if (!sample.shown)
        return 1;
    sample.shown = false;
    SampleSum sum = sum_of(sample);
    if (fades)
        fade(sum);
    return put(sample.place, sample.call_class, -sum, -1);
}

void ClassedSamples::pop_front() {
    const Sample& sample = samples_.front();
    if (sample.group != no_group) {
        Group& group = groups_[sample.group];
        if (sample.next_in_group) {
            group.first = first_ + sample.next_in_group;
        } else {
            group_of_call_[group.call.index()] = no_group;
            bool listed = group.listed;
            group = {};
            group.listed = listed;
            free_groups_.push_back(sample.group);
        }
    }
    samples_.pop_front();
    first_++;
}

bool ClassedSamples::drop_overwritten(size_t& budget) {
    uint64_t evicted = model_.samples_evicted();
    while (first_ < evicted && !samples_.empty()) {
        if (budget == 0)
            return true;
        budget -= std::min(budget, leave(samples_.front(), false));
        pop_front();
    }
    first_ = std::max(first_, evicted);
    return false;
}

bool ClassedSamples::drop_expired(size_t& budget) {
    uint64_t oldest = oldest_in_window();
    bool fades = window_.kind == Window::Kind::ewma;
    const auto has_gone = [&](const Late& late) {
        return late.first < oldest || late.second < first_;
    };
    for (; !late_.empty() && has_gone(late_.top()); late_.pop()) {
        if (budget == 0)
            return true;
        if (late_.top().second >= first_ && !at(late_.top().second).left)
            budget -= std::min(budget, leave(at(late_.top().second), fades));
    }
    while (!samples_.empty() && (samples_.front().left || samples_.front().time_ns < oldest)) {
        if (budget == 0)
            return true;
        if (!samples_.front().left)
            budget -= std::min(budget, leave(samples_.front(), fades));
        else
            budget--;
        pop_front();
    }
    return false;
}

bool ClassedSamples::reconsider(const Decider& decide, size_t& budget) {
    ThresholdState now = model_.split_state();
    if (now.in_force() != threshold_.in_force() || now.value_ns != threshold_.value_ns) {
        threshold_ = now;
        all_groups_from_ = 0;
    }
    // The open ones are few, and looked at each time.
    size_t kept = 0;
    for (uint32_t group : open_) {
        if (groups_[group].call != no_call && groups_[group].open) {
            size_t steps = decide_group(decide, group);
            budget -= std::min(budget, steps);
        }
        if (groups_[group].call != no_call && groups_[group].open)
            open_[kept++] = group;
        else
            groups_[group].listed = false;
    }
    open_.resize(kept);
    for (; all_groups_from_ < groups_.size() && budget; all_groups_from_++)
        if (groups_[all_groups_from_].call != no_call)
            budget -=
                std::min(budget, decide_group(decide, static_cast<uint32_t>(all_groups_from_)));
    if (all_groups_from_ < groups_.size())
        return true;
    all_groups_from_ = SIZE_MAX;
    return false;
}

bool ClassedSamples::follow_stacks(const Decider& decide, size_t& budget) {
    if (!asks_for_stacks())
        return false;
    const uint64_t names = model_.symbols().names_version();
    while (stacks_from_ != UINT64_MAX || names_version_ != names) {
        if (stacks_from_ == UINT64_MAX) {
            names_version_ = names;
            stacks_from_ = first_;
        }
        // Those that come meanwhile are decided by what is known then.
        for (stacks_from_ = std::max(stacks_from_, first_); stacks_from_ < end(); stacks_from_++) {
            if (budget == 0)
                return true;
            budget -= std::min(budget, this->decide(decide, stacks_from_));
        }
        stacks_from_ = UINT64_MAX;
    }
    return false;
}

size_t ClassedSamples::decide_group(const Decider& decide, uint32_t index) {
    Group& group = groups_[index];
    Verdict verdict = decide(group.call, at(group.first).time_ns, thread_of(group.first));
    bool was_open = group.open;
    if (decide.classify.is_filtered(group.call))
        return decide_filtered(decide, group);
    group.open = decide.classify.is_open(group.call);
    // Some of its samples may turn out to have come behind its end.
    const bool has_ended = was_open && !group.open && decide.classify.told_late();
    if (verdict.shown == group.shown && verdict.call_class == group.call_class && !split_.so_far &&
        !has_ended)
        return 1;
    if (split_.so_far && !was_open)
        return 1;
    group.shown = verdict.shown;
    group.call_class = verdict.call_class;
    size_t steps = 1;
    for (uint64_t i = group.first;; i += at(i).next_in_group) {
        steps += this->decide(decide, i);
        if (!at(i).next_in_group)
            return steps;
    }
}

// Another call inside it, or none, decides each of its samples; they stay linked.
size_t ClassedSamples::decide_filtered(const Decider& decide, Group& group) {
    group.open = false;
    size_t steps = 1;
    for (uint64_t i = group.first;; i += at(i).next_in_group) {
        const CallIndex call = decisive(decide, i);
        group.open |= call != no_call && decide.classify.is_open(call);
        steps += this->decide(decide, i);
        if (!at(i).next_in_group)
            return steps;
    }
}

CallIndex ClassedSamples::decisive(const Decider& decide, uint64_t number) {
    const uint32_t group = at(number).group;
    if (group == no_group || !decide.classify.is_filtered(groups_[group].call))
        return group == no_group ? no_call : groups_[group].call;
    return decide.classify.decisive(model_.samples().calls()[index_of(number)]);
}

size_t ClassedSamples::decide(const Decider& decide, uint64_t number) {
    Sample& sample = at(number);
    if (sample.left)
        return 1;
    CallIndex call = decisive(decide, number);
    Verdict verdict = decide(call, sample.time_ns, thread_of(number));
    verdict.shown = verdict.shown && decide.test.fits_stack(stack_of(number));
    if (verdict.shown == sample.shown && (!sample.shown || verdict.call_class == sample.call_class))
        return 1;
    return put_again(number, verdict);
}

size_t ClassedSamples::put_again(uint64_t number, Verdict verdict) {
    Sample& sample = at(number);
    const Sample before = sample;
    size_t steps = 1;
    // In before out, so that a place that both share does not go and come back.
    if (verdict.shown) {
        sample.place = place(number);
        steps += put(sample.place, verdict.call_class, sum_of(sample), 1);
    }
    if (before.shown)
        steps += put(before.place, before.call_class, -sum_of(sample), -1);
    sample.shown = verdict.shown;
    sample.call_class = verdict.call_class;
    return steps;
}

uint32_t ClassedSamples::group_of(CallIndex call, uint64_t number) {
    if (group_of_call_.size() < model_.calls().size())
        group_of_call_.resize(model_.calls().size(), no_group);
    uint32_t& group = group_of_call_[call.index()];
    if (group != no_group) {
        uint64_t last = groups_[group].last;
        at(last).next_in_group = static_cast<uint32_t>(number - last);
        groups_[group].last = number;
        return group;
    }
    if (free_groups_.empty()) {
        group = static_cast<uint32_t>(groups_.size());
        groups_.emplace_back();
    } else {
        group = free_groups_.back();
        free_groups_.pop_back();
    }
    bool listed = groups_[group].listed;
    groups_[group] = {call, number, number, CallClass::open, false, false, listed};
    return group;
}

bool ClassedSamples::take_in(const Decider& decide, size_t& budget) {
    const SampleStore& store = model_.samples();
    uint64_t oldest = oldest_in_window();
    for (uint64_t number = end(); number < model_.samples_received(); number++) {
        if (budget == 0)
            return true;
        size_t index = index_of(number);
        Sample sample;
        sample.time_ns = store.times()[index];
        sample.weight_ns = store.weights()[index];
        sample.kind = store.kinds()[index];
        sample.group = no_group;
        bool in_window =
            sample.time_ns >= oldest && (!window_.end_ns || sample.time_ns <= window_.end_ns);
        sample.left = !in_window;
        if (sample.time_ns < latest_ns_ && in_window)
            late_.push({sample.time_ns, number});
        latest_ns_ = std::max(latest_ns_, sample.time_ns);
        budget--;
        CallIndex decisive = decide.classify.decisive(store.calls()[index]);
        if (!in_window) {
            if (window_.kind == Window::Kind::ewma && sample.time_ns < oldest &&
                decide(decisive, sample.time_ns, thread_of(number)).shown &&
                decide.test.fits_stack(stack_of(number)))
                fade(sum_of(sample));
            if (samples_.empty())
                first_++;
            else
                samples_.push_back(sample);
            continue;
        }
        samples_.push_back(sample);
        if (decisive != no_call) {
            uint32_t group = at(number).group = group_of(decisive, number);
            if (groups_[group].first == number) {
                Verdict verdict = decide(decisive, sample.time_ns, thread_of(number));
                groups_[group].shown = verdict.shown;
                groups_[group].call_class = verdict.call_class;
                groups_[group].open = decide.classify.is_open(decisive);
                if (groups_[group].open && !groups_[group].listed) {
                    groups_[group].listed = true;
                    open_.push_back(group);
                }
            }
        }
        budget -= std::min(budget, this->decide(decide, number));
    }
    return false;
}

size_t ClassedSamples::memory_bytes() const {
    return samples_.size() * sizeof(Sample) + late_.size() * sizeof(Late) +
           groups_.capacity() * sizeof(Group) + free_groups_.capacity() * sizeof(uint32_t) +
           group_of_call_.capacity() * sizeof(uint32_t) + open_.capacity() * sizeof(uint32_t);
}

} // namespace auger
