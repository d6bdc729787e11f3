// SPDX-License-Identifier: GPL-3.0-or-later
// Calls are classed, samples picked, ordered by their outermost call, summed up per call and thing,
// and compared, each in steps. Calls are classed as wholes, by their durations, also under a
// `so-far` split, and as they were when the comparison began: one that ended since counts as open,
// and a record that is another call's by now has lost its samples. More than 400 lines: the steps
// work on one state, each where the last one left off.
#include "views/model/diff.h"

#include "views/escape.h"
#include "views/model/call_estimate.h"
#include "views/model/per_call_sums.h"
#include "views/model/sample_pass.h"
#include "views/model/stack_things.h"

#include <algorithm>
#include <utility>

namespace auger {

namespace {

// A sample in a call of the split's probe.
struct Picked {
    CallIndex outer;
    StackId stack;
    double weight;
};

} // namespace

class DiffPass::Comparison {
  public:
    Comparison(const Model& model, const Window& window, const ClassFilter& first,
               const ClassFilter& second, bool with_stacks, FrameChoice frames)
        : model_(model), window_(window), pass_(model, {}, {}), with_stacks_(with_stacks),
          things_(model, frames), probe_handling_(model.symbols().stacks(), -1),
          by_stack_(model.symbols().stacks() + 1) {
        diff_.first.filter = first;
        diff_.second.filter = second;
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
        begin_with_calls();
    }

    bool work(size_t most) {
        switch (step_) {
        case Step::remember:
            if (!remember_calls(most))
                step_ = Step::pick;
            return true;
        case Step::pick:
            if (!pick(most))
                step_ = Step::order;
            return true;
        case Step::order:
            if (!order(most))
                step_ = Step::sum_up;
            return true;
        case Step::sum_up:
            if (!sum_up(most / 8))
                step_ = Step::sum_up_stacks;
            return true;
        case Step::sum_up_stacks:
            if (sum_up_stacks(most / 32 + 1))
                return true;
            count_calls();
            find_explained();
            step_ = Step::compare;
            return true;
        case Step::compare:
            if (compare_functions(most / 1000 + 1))
                return true;
            finish();
            step_ = Step::done;
            return false;
        case Step::done:
            break;
        }
        return false;
    }
    Diff take() { return std::move(diff_); }
    // Steps take about their share of the whole.
    double progress() const {
        static constexpr std::array<double, 7> begin = {0, 0.1, 0.3, 0.35, 0.8, 0.9, 1};
        const std::array<size_t, 6> all = {side_.size(),    pass_.samples(),  picked_.size(),
                                           ordered_.size(), by_stack_.size(), functions_.size()};
        const auto step = static_cast<size_t>(step_);
        if (step_ == Step::done)
            return 1;
        const size_t done = step_ == Step::pick ? pass_.walked() : next_;
        const double part =
            static_cast<double>(done) / static_cast<double>(std::max<size_t>(all[step], 1));
        return begin[step] + part * (begin[step + 1] - begin[step]);
    }

  private:
    enum class Step : uint8_t { remember, pick, order, sum_up, sum_up_stacks, compare, done };

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

    static ClassFilter durations_of(const ClassFilter& filter) {
        ClassFilter durations;
        durations.duration = filter.duration;
        durations.range = filter.range;
        return durations;
    }

    void begin_with_calls() {
        const CallTable& calls = model_.calls();
        bool by_lines = !model_.only().line_clauses.empty();
        for (DiffSide* side : {&diff_.first, &diff_.second}) {
            const ClassFilter& filter = side->filter;
            side->estimated = by_lines || filter.label ||
                              ((filter.duration || filter.range || filter.host) && filter.taken);
            estimated_ |= side->estimated;
        }
        differs_by_definition_ =
            durations_of(diff_.first.filter).excludes(durations_of(diff_.second.filter));
        side_.assign(calls.size(), neither);
        unwound_call_.assign(calls.size(), false);
        if (estimated_) {
            durations_.assign(calls.size(), 0);
            hosts_.assign(calls.size(), {});
        }
        begin_.assign(calls.size() + 1, 0);
        // Returned calls as counted, sampled or not.
        const ProbeId probe = model_.split().probe;
        calls_ = {model_.probe_statistics(probe, window_, diff_.first.filter.host),
                  model_.probe_statistics(probe, window_, diff_.second.filter.host)};
        branch_ = model_.branch_counts(window_);
        threshold_ = model_.split_state();
    }

    // What is asked of calls later: their records may be others' by then.
    bool remember_calls(size_t most) {
        if (pass_.decide(most))
            return true;
        diff_.recursive = pass_.classifier().recursive();
        const CallTable& calls = model_.calls();
        const ClassTest first(model_, pass_.classifier(), diff_.first.filter);
        const ClassTest second(model_, pass_.classifier(), diff_.second.filter);
        for (; most > 0 && next_ < side_.size(); most--, next_++) {
            const CallIndex index{static_cast<uint32_t>(next_)};
            const CallRecord& call = calls[index];
            // `slow` already, but it has not got its whole weight yet.
            if (call.references == 0 || call.state == CallRecord::State::open ||
                call.state == CallRecord::State::filtered ||
                call.start_ns + call.duration_ns > pass_.now_ns())
                continue;
            side_[next_] = first.of_call(index) ? 0 : second.of_call(index) ? 1 : neither;
            unwound_call_[next_] = call.state == CallRecord::State::unwound;
            if (estimated_ && !unwound_call_[next_]) {
                durations_[next_] = std::max<uint64_t>(call.duration_ns, 1);
                hosts_[next_] = {first.of_host(index), second.of_host(index)};
            }
        }
        if (next_ < side_.size())
            return true;
        next_ = 0;
        return false;
    }

    bool pick(size_t most) {
        const SampleStore& samples = model_.samples();
        return pass_.walk(most, [&](size_t i, CallIndex call) {
            uint64_t time = samples.times()[i];
            CallIndex outer = pass_.classifier().outermost(call, time);
            if (outer == no_call || time < diff_.from_ns || time > diff_.to_ns)
                return;
            if (estimated_ && durations_[outer.index()]) { // each once
                const uint64_t duration = std::exchange(durations_[outer.index()], 0);
                for (size_t side = 0; side < 2; side++)
                    if (hosts_[outer.index()][side])
                        estimates_[side].add(duration, side_[outer.index()]);
            }
            if (side_[outer.index()] == neither || !pass_.classifier().keeps(samples.stacks()[i]))
                return;
            // What a probe costs is no part of what the calls do.
            if (samples.kinds()[i] == SampleKind::cpu && is_probe_handling(samples.stacks()[i])) {
                diff_.probe_handling += {1, static_cast<double>(samples.weights()[i])};
                return;
            }
            begin_[outer.index() + 1]++;
            // Undefined stacks share the last place.
            StackId stack{
                std::min(samples.stacks()[i].value, static_cast<uint32_t>(by_stack_.size() - 1))};
            picked_.push_back({outer, stack, static_cast<double>(samples.weights()[i])});
        });
    }

    bool is_probe_handling(StackId stack) {
        if (stack.index() >= probe_handling_.size())
            return false;
        int8_t& known = probe_handling_[stack.index()];
        if (known < 0)
            known = model_.symbols().probe_handling(model_.symbols().stack(stack)) > 0;
        return known;
    }

    // Call by call.
    bool order(size_t most) {
        if (ordered_.empty()) {
            for (size_t i = 1; i < begin_.size(); i++)
                begin_[i] += begin_[i - 1];
            ordered_.resize(picked_.size());
        }
        for (; most > 0 && next_ < picked_.size(); most--, next_++)
            ordered_[begin_[picked_[next_].outer.index()]++] = picked_[next_];
        if (next_ < picked_.size())
            return true;
        picked_ = {};
        next_ = 0;
        return false;
    }

    bool sum_up(size_t most) {
        for (size_t cost = 0; cost < most && next_ < ordered_.size(); next_++) {
            const Picked& sample = ordered_[next_];
            cost += things_.known(sample.stack) ? 1 : 16;
            auto side = static_cast<size_t>(side_[sample.outer.index()]);
            DiffSide& of = side ? diff_.second : diff_.first;
            of.samples += {1, sample.weight};

            const StackThings::Things& things = things_[sample.stack];
            by_stack_[sample.stack.index()][side] += sample.weight;
            if (with_stacks_) {
                stacks_.grow(things_.stacks());
                stacks_.add(things.stack, sample.weight);
            }
            for (FunctionId function : things_.functions(things)) {
                functions_.grow(function.index() + 1);
                functions_.add(function.value, sample.weight);
            }
            if (next_ + 1 < ordered_.size() && ordered_[next_ + 1].outer == sample.outer)
                continue;
            functions_.end_call(side);
            stacks_.end_call(side);
            of.sampled_calls++;
            if (unwound_call_[sample.outer.index()])
                unwound_[side]++;
        }
        if (next_ < ordered_.size())
            return true;
        next_ = 0;
        return false;
    }

    // What needs no variance is summed up by stack: far fewer than samples.
    bool sum_up_stacks(size_t most) {
        self_.resize(functions_.size());
        edges_.resize(things_.edges().size());
        for (; most > 0 && next_ < by_stack_.size(); most--, next_++) {
            const size_t i = next_;
            if (by_stack_[i][0] + by_stack_[i][1] == 0)
                continue;
            const StackThings::Things& things = things_[StackId{static_cast<uint32_t>(i)}];
            const std::vector<FunctionId>& path = things_.stack_path(things.stack);
            for (size_t side = 0; side < 2; side++) {
                for (uint32_t edge : things_.edges(things))
                    edges_[edge][side] += by_stack_[i][side];
                if (!path.empty())
                    self_[path.back().index()][side] += by_stack_[i][side];
            }
        }
        if (next_ < by_stack_.size())
            return true;
        next_ = 0;
        return false;
    }

    // Unwound calls are in no histogram, so only those with samples are known by class.
    void count_calls() {
        const uint64_t boundary = threshold_.in_force() ? threshold_.value_ns : 0;
        for (size_t side = 0; side < 2; side++) {
            DiffSide& of = side ? diff_.second : diff_.first;
            const ClassFilter& filter = of.filter;
            double returned = 0;
            if (of.estimated)
                returned = estimates_[side].calls(calls_[side].durations, boundary)[side];
            else if (filter.taken)
                returned = *filter.taken ? branch_.taken : branch_.not_taken;
            else
                returned = count_durations(calls_[side].durations, filter, threshold_.value_ns);
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

    double difference(const std::vector<std::array<double, 2>>& sums, size_t i) const {
        double first = diff_.first.calls > 0 ? sums[i][0] / diff_.first.calls : 0;
        double second = diff_.second.calls > 0 ? sums[i][1] / diff_.second.calls : 0;
        return first - second;
    }

    // The best that a single callee does for each function.
    void find_explained() {
        explained_.resize(functions_.size());
        for (size_t i = 0; i < edges_.size(); i++) {
            double& best = explained_[things_.edges()[i].caller.index()];
            best = std::max(best, difference(edges_, i));
        }
    }

    bool compare_functions(size_t most) {
        for (; next_ < functions_.size(); next_++) {
            if (functions_[next_][0].calls + functions_[next_][1].calls == 0)
                continue;
            if (most-- == 0)
                return true;
            FunctionDiff entry;
            static_cast<DiffEntry&>(entry) = compare(functions_[next_], functions_.values(next_),
                                                     diff_.first.calls, diff_.second.calls);
            entry.function = FunctionId{static_cast<uint32_t>(next_)};
            entry.self_difference_ns = difference(self_, next_);
            entry.rest_difference_ns = entry.difference_ns - explained_[next_];
            entry.by_split = differs_by_definition_ && things_.is_split_function(entry.function);
            diff_.functions.push_back(entry);
        }
        return false;
    }

    void finish() {
        for (uint32_t i = 0; i < stacks_.size(); i++) {
            StackDiff entry;
            static_cast<DiffEntry&>(entry) =
                compare(stacks_[i], stacks_.values(i), diff_.first.calls, diff_.second.calls);
            entry.path = things_.stack_path(i);
            diff_.stacks.push_back(std::move(entry));
        }
        std::vector<DiffEntry*> entries;
        for (FunctionDiff& entry : diff_.functions)
            if (!entry.by_split)
                entries.push_back(&entry);
        diff_.tested_functions = mark_significant(entries, diff_.first.calls, diff_.second.calls);
        entries.clear();
        for (StackDiff& entry : diff_.stacks)
            entries.push_back(&entry);
        mark_significant(entries, diff_.first.calls, diff_.second.calls);

        std::sort(diff_.functions.begin(), diff_.functions.end(),
                  [](const FunctionDiff& a, const FunctionDiff& b) {
                      if (a.rest_difference_ns != b.rest_difference_ns)
                          return a.rest_difference_ns > b.rest_difference_ns;
                      return a.function < b.function;
                  });
        std::stable_sort(diff_.stacks.begin(), diff_.stacks.end(),
                         [](const StackDiff& a, const StackDiff& b) {
                             return a.difference_ns > b.difference_ns;
                         });
    }

    const Model& model_;
    Window window_;
    SamplePass pass_;
    bool with_stacks_;
    StackThings things_;
    Step step_ = Step::remember;
    size_t next_ = 0; // in what the step goes through

    // By call.
    static constexpr int8_t neither = -1;
    std::vector<int8_t> side_; // 0, 1 or neither
    std::vector<bool> unwound_call_;
    std::vector<uint64_t> durations_; // of returned ones not estimated from so far; 0: none
    std::vector<uint32_t> begin_;     // in ordered_

    std::array<CallStatistics, 2> calls_; // by side: of its hosts
    MarkCounts branch_;
    ThresholdState threshold_;
    bool estimated_ = false;
    bool differs_by_definition_ = false;     // how long the calls of the split take
    std::array<CallEstimate, 2> estimates_;  // likewise
    std::vector<std::array<bool, 2>> hosts_; // by call: whether it is of the side's hosts
    std::vector<Picked> picked_, ordered_;
    PerCallSums functions_, stacks_;
    std::vector<int8_t> probe_handling_;                         // by stack: -1 not looked at yet
    std::vector<std::array<double, 2>> by_stack_, edges_, self_; // weights by side
    std::vector<double> explained_;                              // by function
    std::array<double, 2> unwound_{};
    Diff diff_;
};

namespace {

Error diff_error(std::string cause, std::string hint) {
    return {"compare classes", "", std::move(cause), std::move(hint), Error::Kind::failed};
}

} // namespace

DiffPass::DiffPass(std::unique_ptr<Comparison> comparison) : comparison_(std::move(comparison)) {}
DiffPass::~DiffPass() = default;
DiffPass::DiffPass(DiffPass&&) noexcept = default;
DiffPass& DiffPass::operator=(DiffPass&&) noexcept = default;

bool DiffPass::work(size_t samples) {
    return comparison_->work(std::max<size_t>(samples, 16));
}

double DiffPass::progress() const {
    return comparison_->progress();
}

Diff DiffPass::take() {
    return comparison_->take();
}

Result<DiffPass> DiffPass::begin(const Model& model, const Window& window, const ClassFilter& first,
                                 const ClassFilter& second, bool with_stacks, FrameChoice frames) {
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
    return DiffPass(
        std::make_unique<Comparison>(model, window, first, second, with_stacks, frames));
}

Result<Diff> diff_classes(const Model& model, const Window& window, const ClassFilter& first,
                          const ClassFilter& second, FrameChoice frames) {
    Result<DiffPass> pass = DiffPass::begin(model, window, first, second, true, frames);
    if (!pass)
        return pass.error();
    while (pass->work(SIZE_MAX))
        ;
    return pass->take();
}

} // namespace auger
