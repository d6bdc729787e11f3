// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/part_candidates.h"

#include "loader/probes/probe_pattern.h"

#include "views/model/frame_kind.h"
#include "views/model/function_probe.h"
#include "views/short_name.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace auger {

namespace {

constexpr double least_variance = 0.02;
constexpr double least_duration = 0.05;
constexpr uint64_t least_samples = 3;

// What samples have in a function, or in a function called by another one.
struct Sums {
    double covariance = 0; // times the number of calls
    double weight_ns = 0;
    uint64_t samples = 0;
};

class Candidates {
  public:
    Candidates(const Model& model, ProbeId probe) : model_(model), probe_(probe) {
        for (const SpecId spec : model.find_probe(probe)->specs) {
            const SpecInfo& info = model.specs()[spec.index()];
            functions_of_probe_.push_back({info.function.substr(0, info.function.find('@'))});
        }
        // Of the time that samples are of: they may go back less far than the calls that were
        // counted, or have begun later.
        const CallStatistics all = model.probe_statistics(probe, sampled_time(model));
        calls_ = all.returns;
        if (!(calls_ > 0))
            return;
        mean_ns_ = all.sum_ns / calls_;
        for (uint32_t bucket = 0; bucket < all.durations.end_bucket(); bucket++) {
            const double middle = (static_cast<double>(bucket_low(bucket)) +
                                   static_cast<double>(bucket_high(bucket))) /
                                  2;
            variance_ += all.durations.count(bucket) * (middle - mean_ns_) * (middle - mean_ns_);
        }
    }

    PartCandidates choose(size_t most) {
        if (calls_ > 0)
            look_at_samples();
        found_.calls = sampled_.size();
        std::unordered_map<FunctionId, Sums> best; // of a function's callees
        for (const auto& [edge, sums] : edges_) {
            Sums& of = best[edge.first];
            of.covariance = std::max(of.covariance, sums.covariance);
            of.weight_ns = std::max(of.weight_ns, sums.weight_ns);
        }
        for (const auto& [function, sums] : sums_) {
            PartCandidate candidate{function, {}, 0, 0};
            const Sums& callee = best[function];
            if (variance_ > 0)
                candidate.variance = (sums.covariance - callee.covariance) / variance_;
            candidate.duration = (sums.weight_ns - callee.weight_ns) / (calls_ * mean_ns_);
            if (sums.samples < least_samples || probe_of(model_, function) ||
                (candidate.variance < least_variance && candidate.duration < least_duration))
                continue;
            if (std::string text = probe_text_of(model_, function); means_function(text, function))
                candidate.probe = std::move(text);
            found_.functions.push_back(std::move(candidate));
        }
        std::ranges::sort(found_.functions, [](const PartCandidate& a, const PartCandidate& b) {
            const bool first = a.variance >= least_variance, second = b.variance >= least_variance;
            if (first != second)
                return first;
            const double one = first ? a.variance : a.duration,
                         other = second ? b.variance : b.duration;
            return one != other ? one > other : a.function < b.function;
        });
        if (found_.functions.size() > most)
            found_.functions.resize(most);
        return std::move(found_);
    }

  private:
    static Window sampled_time(const Model& model) {
        uint64_t oldest = UINT64_MAX;
        for (size_t i = 0; i < model.samples().size(); i++)
            oldest = std::min(oldest, model.samples().times()[i]);
        if (oldest >= model.now_ns())
            return {};
        return {Window::Kind::last, model.now_ns() - oldest};
    }
    // Names are whatever a target's files say: `tracepoint:...`, `libc:malloc`, a glob.
    bool means_function(const std::string& text, FunctionId id) const {
        const std::string_view name = model_.symbols().name(id);
        const ParsedProbe parsed = parse_probe(text);
        if (!parsed.pattern)
            return false;
        const ProbePattern& probe = *parsed.pattern;
        const std::string library = text.size() > name.size() && text.ends_with(name)
                                        ? text.substr(0, text.size() - name.size() - 1)
                                        : "";
        return !is_place(probe) && !probe.call_site && !probe.address && !probe.function_is_glob &&
               !probe.kernel_function() && probe.library == library;
    }
    // What is asked of each frame, once a function.
    struct Known {
        bool known = false, of_probe = false, can_be_timed = false;
    };
    const Known& known(FunctionId id) {
        if (id.index() >= known_.size())
            known_.resize(id.index() + 1);
        Known& known = known_[id.index()];
        if (std::exchange(known.known, true))
            return known;
        const SymbolTables& symbols = model_.symbols();
        const std::string_view name = symbols.name(id);
        const std::string in_short = short_name(name);
        known.of_probe = std::ranges::any_of(functions_of_probe_, [&](const std::string& function) {
            return function == name || function == in_short;
        });
        known.can_be_timed = why_no_probe(symbols, id).empty() && !is_of_runtime(symbols, id) &&
                             !is_an_address(symbols, id);
        return known;
    }

    // Functions that can be timed below the outermost of the probe's, the innermost first.
    const std::vector<FunctionId>& path(StackId id) {
        const auto [at, added] = paths_.try_emplace(id);
        std::vector<FunctionId>& path = at->second;
        if (!added)
            return path;
        const SymbolTables& symbols = model_.symbols();
        size_t inside = 0; // of `path`: those below the outermost so far
        for (const LocationId location : symbols.stack(id))
            for (const FrameEntry& frame : symbols.found_frames(location)) {
                const Known& function = known(frame.function);
                if (function.of_probe) {
                    inside = path.size();
                    continue;
                }
                if (!frame.inlined && function.can_be_timed &&
                    (path.empty() || path.back() != frame.function))
                    path.push_back(frame.function);
            }
        path.resize(inside);
        return path;
    }

    // The outermost call of the probe around it; no_call: there is none, or it has not returned.
    CallIndex call_of_probe(CallIndex call) const {
        CallIndex outermost = no_call;
        for (; call != no_call; call = model_.calls()[call].parent)
            if (model_.specs()[model_.calls()[call].spec.index()].probe == probe_)
                outermost = call;
        return outermost != no_call &&
                       model_.calls()[outermost].state == CallRecord::State::returned
                   ? outermost
                   : no_call;
    }

    void look_at_samples() {
        const SampleStore& samples = model_.samples();
        for (size_t i = 0; i < samples.size(); i++) {
            const CallIndex call = call_of_probe(samples.calls()[i]);
            if (call == no_call)
                continue;
            found_.samples++;
            sampled_.insert(call.value);
            const auto weight = static_cast<double>(samples.weights()[i]);
            const double deviation =
                static_cast<double>(model_.calls()[call].duration_ns) - mean_ns_;
            const Sums sample{weight * deviation, weight, 1};
            seen_.clear();
            const std::vector<FunctionId>& path = this->path(samples.stacks()[i]);
            for (size_t at = 0; at < path.size(); at++) {
                if (std::ranges::find(seen_, path[at]) != seen_.end())
                    continue; // recursion
                seen_.push_back(path[at]);
                add(sums_[path[at]], sample);
                if (at > 0)
                    add(edges_[{path[at], path[at - 1]}], sample);
            }
        }
    }
    static void add(Sums& sums, const Sums& sample) {
        sums.covariance += sample.covariance;
        sums.weight_ns += sample.weight_ns;
        sums.samples += sample.samples;
    }

    const Model& model_;
    ProbeId probe_;
    std::vector<std::string> functions_of_probe_;
    double calls_ = 0;
    double mean_ns_ = 0;
    double variance_ = 0;      // times the number of calls
    std::vector<Known> known_; // by function
    std::unordered_map<StackId, std::vector<FunctionId>> paths_;
    std::unordered_set<uint32_t> sampled_;
    std::vector<FunctionId> seen_;
    std::map<FunctionId, Sums> sums_;
    std::map<std::pair<FunctionId, FunctionId>, Sums> edges_; // caller, callee
    PartCandidates found_;
};

} // namespace

PartCandidates part_candidates(const Model& model, ProbeId probe, size_t most) {
    if (!model.find_probe(probe))
        return {};
    return Candidates(model, probe).choose(most);
}

} // namespace auger
