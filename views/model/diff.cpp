// SPDX-License-Identifier: GPL-3.0-or-later
// Samples are ordered by their outermost call, summed up per call and thing, and compared. Calls
// are classed as wholes, by their durations, also under a `so-far` split.
#include "views/model/diff.h"

#include "views/escape.h"
#include "views/model/call_estimate.h"
#include "views/model/per_call_sums.h"
#include "views/model/stack_things.h"

#include <algorithm>
#include <utility>

namespace auger {

namespace {

class Comparison {
  public:
    Comparison(const Model& model, const Window& window, const ClassFilter& first,
               const ClassFilter& second)
        : model_(model), window_(window), classify_(model), first_(model, classify_, first),
          second_(model, classify_, second), things_(model),
          functions_(model.symbols().functions()), by_stack_(model.symbols().stacks() + 1) {
        diff_.first.filter = first;
        diff_.second.filter = second;
        diff_.recursive = classify_.recursive();
        diff_.to_ns = window.until(model.now_ns());
        diff_.from_ns = model.first_ns();
        // Calls from before the oldest sample must not count, since their samples are gone; nor
        // those of which the class is not known.
        uint64_t from = known_since();
        if (model.samples_evicted())
            from = std::max(from, model.samples().oldest().time_ns);
        if (from > diff_.from_ns) {
            diff_.from_ns = std::min(from, diff_.to_ns);
            window_ = {Window::Kind::last, diff_.to_ns - diff_.from_ns, window.end_ns};
        }
        if (uint64_t since = window.since(0, model.now_ns()); since > diff_.from_ns) {
            diff_.from_ns = since;
            window_ = window;
        }
        if (window_.kind == Window::Kind::ewma)
            window_ = {Window::Kind::all, 0, window.end_ns};
    }

    Diff run() {
        order_by_call();
        sum_up();
        sum_up_stacks();
        count_calls();
        compare_all();
        return std::move(diff_);
    }

  private:
    // Since when everything that the classes ask for is known of new calls.
    uint64_t known_since() const {
        uint64_t since = 0;
        for (const ClassFilter* filter : {&diff_.first.filter, &diff_.second.filter}) {
            if (filter->taken)
                since = std::max(since, model_.split().branch_since_ns);
            if (filter->label)
                since = std::max(since, model_.split().label_since_ns);
        }
        if (!model_.only().line_clauses.empty())
            for (const MarkInfo& mark : model_.only().marks)
                since = std::max(since, mark.since_ns);
        return since;
    }

    // 0 or 1: the side that the call belongs to; -1: neither.
    int side_of(CallIndex outer) const {
        if (outer == no_call || model_.calls()[outer].state == CallRecord::State::open)
            return -1; // `slow` already, but it has not got its whole weight yet
        return first_.of_call(outer) ? 0 : second_.of_call(outer) ? 1 : -1;
    }

    void order_by_call() {
        const SampleStore& samples = model_.samples();
        std::vector<uint32_t> begin(model_.calls().size() + 1);
        std::vector<uint32_t> picked;
        for (uint32_t i = 0; i < samples.size(); i++) {
            CallIndex outer = classify_.outermost(samples.calls()[i]);
            if (side_of(outer) < 0 || samples.times()[i] < diff_.from_ns ||
                samples.times()[i] > diff_.to_ns)
                continue;
            begin[outer.index() + 1]++;
            picked.push_back(i);
        }
        for (size_t i = 1; i < begin.size(); i++)
            begin[i] += begin[i - 1];
        ordered_.resize(picked.size());
        for (uint32_t i : picked)
            ordered_[begin[classify_.outermost(samples.calls()[i]).index()]++] = i;
    }

    void sum_up() {
        const SampleStore& samples = model_.samples();
        for (size_t i = 0; i < ordered_.size(); i++) {
            uint32_t sample = ordered_[i];
            CallIndex outer = classify_.outermost(samples.calls()[sample]);
            auto side = static_cast<size_t>(side_of(outer));
            DiffSide& of = side ? diff_.second : diff_.first;
            double weight = static_cast<double>(samples.weights()[sample]);
            of.samples += {1, weight};

            // Undefined ones share the last place.
            StackId stack{std::min(samples.stacks()[sample].value,
                                   static_cast<uint32_t>(by_stack_.size() - 1))};
            const StackThings::Things& things = things_[stack];
            by_stack_[stack.index()][side] += weight;
            stacks_.grow(things_.stacks());
            stacks_.add(things.stack, weight);
            for (FunctionId function : things_.functions(things))
                functions_.add(function.value, weight);

            bool last = i + 1 == ordered_.size() ||
                        classify_.outermost(samples.calls()[ordered_[i + 1]]) != outer;
            if (!last)
                continue;
            functions_.end_call(side);
            stacks_.end_call(side);
            of.sampled_calls++;
            if (model_.calls()[outer].state == CallRecord::State::unwound)
                unwound_[side]++;
        }
    }

    // What needs no variance is summed up by stack: far fewer than samples.
    void sum_up_stacks() {
        self_.resize(functions_.size());
        for (uint32_t i = 0; i < by_stack_.size(); i++) {
            if (by_stack_[i][0] + by_stack_[i][1] == 0)
                continue;
            const StackThings::Things& things = things_[StackId{i}];
            edges_.resize(things_.edges().size());
            const std::vector<FunctionId>& path = things_.stack_path(things.stack);
            for (size_t side = 0; side < 2; side++) {
                for (uint32_t edge : things_.edges(things))
                    edges_[edge][side] += by_stack_[i][side];
                if (!path.empty())
                    self_[path.back().index()][side] += by_stack_[i][side];
            }
        }
    }

    void count_calls() {
        // Returned calls as counted, sampled or not; unwound ones are in no histogram, so only
        // those with samples are known by class.
        CallStatistics calls = model_.probe_statistics(model_.split().probe, window_);
        ThresholdState threshold = model_.split_state();
        MarkCounts branch = model_.branch_counts(window_);
        bool by_lines = !model_.only().line_clauses.empty();
        std::optional<std::array<double, 2>> estimates;
        for (size_t side = 0; side < 2; side++) {
            DiffSide& of = side ? diff_.second : diff_.first;
            const ClassFilter& filter = of.filter;
            double returned = 0;
            if (by_lines || filter.label || ((filter.duration || filter.range) && filter.taken)) {
                if (!estimates)
                    estimates = estimate_calls(calls.durations, threshold);
                returned = (*estimates)[side];
                of.estimated = true;
            } else if (filter.taken) {
                returned = *filter.taken ? branch.taken : branch.not_taken;
            } else {
                returned = count_durations(calls.durations, filter, threshold.value_ns);
            }
            of.calls = std::max(returned + unwound_[side], of.sampled_calls);
            of.per_call_ns = of.calls > 0 ? of.samples.weight_ns / of.calls : 0;
        }
    }

    // Of calls that are classed by nothing but their durations.
    static double count_durations(const WeightedHistogram& durations, const ClassFilter& filter,
                                  uint64_t threshold_ns) {
        DurationRange range = filter.range.value_or(DurationRange{});
        if (filter.duration == CallClass::slow)
            range.from_ns = std::max(range.from_ns, threshold_ns + 1);
        else if (filter.duration == CallClass::fast)
            range.to_ns = std::min(range.to_ns, threshold_ns + 1);
        auto at_least = [&](uint64_t ns) {
            return ns ? durations.count_above(ns - 1) : durations.total();
        };
        double above = range.open_ended() ? 0 : at_least(range.to_ns);
        return std::max(0.0, at_least(range.from_ns) - above);
    }

    std::array<double, 2> estimate_calls(const WeightedHistogram& durations,
                                         const ThresholdState& threshold) const {
        const SampleStore& samples = model_.samples();
        std::vector<uint8_t> seen(model_.calls().size());
        CallEstimate estimate;
        for (size_t i = 0; i < samples.size(); i++) {
            CallIndex outer = classify_.outermost(samples.calls()[i]);
            if (outer == no_call || samples.times()[i] < diff_.from_ns ||
                std::exchange(seen[outer.index()], 1))
                continue;
            const CallRecord& call = model_.calls()[outer];
            if (call.state == CallRecord::State::returned)
                estimate.add(call.duration_ns, side_of(outer));
        }
        return estimate.calls(durations, threshold.in_force() ? threshold.value_ns : 0);
    }

    double difference(const std::vector<std::array<double, 2>>& sums, size_t i) const {
        double first = diff_.first.calls > 0 ? sums[i][0] / diff_.first.calls : 0;
        double second = diff_.second.calls > 0 ? sums[i][1] / diff_.second.calls : 0;
        return first - second;
    }

    void compare_all() {
        std::vector<double> explained(functions_.size());
        for (size_t i = 0; i < edges_.size(); i++) {
            double& best = explained[things_.edges()[i].caller.index()];
            best = std::max(best, difference(edges_, i));
        }
        std::vector<DiffEntry*> entries;
        for (uint32_t i = 0; i < functions_.size(); i++) {
            if (functions_[i][0].calls + functions_[i][1].calls == 0)
                continue;
            FunctionDiff entry;
            static_cast<DiffEntry&>(entry) =
                compare(functions_[i], diff_.first.calls, diff_.second.calls);
            entry.function = FunctionId{i};
            entry.self_difference_ns = difference(self_, i);
            entry.own_difference_ns = entry.difference_ns - explained[i];
            diff_.functions.push_back(entry);
        }
        for (uint32_t i = 0; i < stacks_.size(); i++) {
            StackDiff entry;
            static_cast<DiffEntry&>(entry) =
                compare(stacks_[i], diff_.first.calls, diff_.second.calls);
            entry.path = things_.stack_path(i);
            diff_.stacks.push_back(std::move(entry));
        }
        for (FunctionDiff& entry : diff_.functions)
            entries.push_back(&entry);
        mark_significant(entries);
        entries.clear();
        for (StackDiff& entry : diff_.stacks)
            entries.push_back(&entry);
        mark_significant(entries);

        std::sort(diff_.functions.begin(), diff_.functions.end(),
                  [](const FunctionDiff& a, const FunctionDiff& b) {
                      if (a.significant != b.significant)
                          return a.significant;
                      if (a.own_difference_ns != b.own_difference_ns)
                          return a.own_difference_ns > b.own_difference_ns;
                      return a.function < b.function;
                  });
        std::stable_sort(diff_.stacks.begin(), diff_.stacks.end(),
                         [](const StackDiff& a, const StackDiff& b) {
                             return a.difference_ns > b.difference_ns;
                         });
    }

    const Model& model_;
    Window window_;
    Classifier classify_;
    ClassTest first_, second_;
    StackThings things_;
    std::vector<uint32_t> ordered_; // samples, call by call
    PerCallSums functions_, stacks_;
    std::vector<std::array<double, 2>> by_stack_, edges_, self_; // weights by side
    std::array<double, 2> unwound_{};
    Diff diff_;
};

Error diff_error(std::string cause, std::string hint) {
    return {"compare classes", "", std::move(cause), std::move(hint), Error::Kind::failed};
}

} // namespace

Result<Diff> diff_classes(const Model& model, const Window& window, const ClassFilter& first,
                          const ClassFilter& second) {
    if (!model.split().active)
        return diff_error("no split is in force", "try: split PROBE > p95");
    for (const ClassFilter* filter : {&first, &second}) {
        if (auto lacking = lacking_part(model, *filter))
            return *lacking;
        if (filter->all() || filter->duration == CallClass::open ||
            filter->duration == CallClass::outside)
            return diff_error("only classes of ended calls can be compared per call",
                              "try: diff slow fast");
    }
    if (!first.excludes(second))
        return diff_error("a call can be both " + escape_untrusted(to_string(first)) + " and " +
                              escape_untrusted(to_string(second)),
                          "compare classes that exclude each other: diff slow fast");
    ThresholdState state = model.split_state();
    if ((first.duration || second.duration) && !state.in_force())
        return diff_error("the threshold is warming up: " + std::to_string(state.calls) + " of " +
                              std::to_string(state.calls_needed) + " calls",
                          "wait, or set a fixed one: threshold PROBE 10ms");
    return Comparison(model, window, first, second).run();
}

} // namespace auger
