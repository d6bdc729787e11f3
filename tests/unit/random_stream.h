// SPDX-License-Identifier: GPL-3.0-or-later
// A model and events at random, from a seed: nested calls that end late or never, samples of all
// kinds that come a little late, names that arrive later, threads that are renamed, edits of split,
// threshold, `only` and rules. What follows a model must at any time agree with what is worked out
// anew.
#pragma once

#include "tests/unit/synthetic_stream.h"
#include "views/model/model.h"

#include <random>

namespace auger {

class RandomStream {
  public:
    RandomStream(uint32_t seed, size_t capacity)
        : random(seed), model(capacity), sink_(model), stream_(model) {
        for (uint32_t probe = 1; probe <= 2; probe++)
            specs_.push_back(stream_.probe(probe, probe == 1 ? "handle" : "inner"));
        // Spans of one are exchanges, whose ends are told later.
        ProbeInfo exchanges = *model.find_probe(ProbeId{2});
        exchanges.span = "exchanges";
        sink_.on_probe(exchanges);
        for (const char* name : {"main", "handle", "inner", "parse", "k:read", "work"})
            names_.push_back(name);
        stream_.label("3");
        stream_.label("7");
    }
    uint64_t below(uint64_t n) { return random() % n; }

    void event() {
        now_ += below(8) * ms;
        switch (below(60)) {
        default:
            return sample();
        case 0 ... 14:
            return begin_or_end();
        case 15:
            return edit_split();
        case 16:
            return edit_only();
        case 17:
            return rename_location();
        case 18:
            return rename_thread();
        case 19:
        case 20:
            return stream_.stats(now_, specs_[0], std::vector<uint64_t>(50, (1 + below(40)) * ms));
        case 22:
            return edit_rules();
        case 21:
            now_ += below(3) ? 0 : below(4000) * ms;
            return sink_.on_time(now_);
        }
    }

    std::mt19937 random;
    Model model;

  private:
    static constexpr uint64_t ms = 1'000'000;
    struct Thread {
        std::vector<CallKey> calls;
    };

    void sample() {
        auto tid = static_cast<uint32_t>(100 + below(4));
        std::vector<std::string> path = {"main"};
        for (uint64_t depth = below(6); depth; depth--)
            path.push_back(names_[below(names_.size())]);
        if (below(4) == 0)
            path.insert(path.begin() + 1, "t:[task work 0x" + std::to_string(below(3)) + "]");
        uint64_t late = below(10) ? 0 : below(20) * ms;
        std::vector<CallKey> calls;
        if (below(4))
            calls = threads_[tid].calls;
        // The span that the thread works for now is around all of them.
        if (!spans_.empty() && below(2))
            calls.insert(calls.begin(), spans_[below(spans_.size())]);
        SampleEvent event;
        event.time_ns = std::max<uint64_t>(now_, late + 1) - late;
        event.weight_ns = 1 + below(1000);
        event.thread = stream_.thread(tid, comm_of_[tid].empty() ? "service" : comm_of_[tid]);
        event.stack = stream_.stack(path);
        event.calls = calls;
        event.kind = static_cast<SampleKind>(below(sample_kinds));
        event.cpu = static_cast<uint32_t>(below(3));
        sink_.on_sample(event);
    }
    void begin_or_end_span() {
        if (spans_.size() < 3 && below(2)) {
            spans_.push_back(stream_.call(specs_[below(specs_.size())], now_));
            spans_.back().sequence |= CallKey::no_thread_bit;
            return;
        }
        if (spans_.empty())
            return;
        const size_t which = below(spans_.size());
        end(spans_[which], static_cast<uint32_t>(100 + below(4)));
        spans_.erase(spans_.begin() + static_cast<ptrdiff_t>(which));
    }
    void begin_or_end() {
        if (below(4) == 0)
            return begin_or_end_span();
        auto tid = static_cast<uint32_t>(100 + below(4));
        Thread& thread = threads_[tid];
        if (thread.calls.size() < 4 && below(2)) {
            thread.calls.push_back(stream_.call(specs_[below(specs_.size())], now_));
            return;
        }
        if (thread.calls.empty())
            return;
        CallKey call = thread.calls.back();
        thread.calls.pop_back();
        end(call, tid);
    }
    void end(const CallKey& call, uint32_t tid) {
        if (below(20) == 0)
            return; // its end is lost
        CallEndEvent end;
        end.time_ns = now_;
        end.duration_ns = now_ - call.start_ns;
        if (call.of_no_thread() && call.spec == specs_[1]) {
            end.duration_ns -= std::min(end.duration_ns, below(40) * ms);
            end.time_ns = call.start_ns + end.duration_ns;
        }
        end.thread = stream_.thread(tid, comm_of_[tid].empty() ? "service" : comm_of_[tid]);
        end.call = call;
        end.unwound = below(10) == 0;
        end.filtered = below(6) == 0;
        end.marks = static_cast<uint32_t>(below(4));
        if (below(2))
            end.label = LabelId{static_cast<uint32_t>(below(2))};
        sink_.on_call_end(end);
    }
    void edit_split() {
        SplitInfo split;
        split.active = below(6) > 0;
        split.probe = ProbeId{static_cast<uint32_t>(1 + below(2))};
        if (below(4))
            split.threshold =
                below(2) ? SyntheticStream::fixed(below(60) * ms) : SyntheticStream::percentile(90);
        split.so_far = below(5) == 0;
        if (below(2))
            split.branch = Branch::at_line("main.cc:9");
        if (below(2))
            split.label = "len";
        split.branch_since_ns = split.label_since_ns = now_ / 2;
        sink_.on_split(split);
    }
    void edit_only() {
        OnlyInfo only;
        if (below(3) == 0) {
            only.text = "at main.cc:9";
            only.lines = {"main.cc:9"};
            only.line_clauses = {{{0}, {}}};
            only.marks = {{1, "at main.cc:9", 0}};
        }
        sink_.on_only(only);
        model.keep_stacks(below(3) ? StackCondition{} : StackCondition{{"work"}, {{{}, {0}}}});
    }
    void edit_rules() {
        const std::vector<Rule> all = {{Rule::Kind::rewrite_thread, R"(comm\d)", "comm"},
                                       {Rule::Kind::rewrite_frame, R"(better_\d|parse)", "work"},
                                       {Rule::Kind::drop_frame, "^(handle|owner)$", {}},
                                       {Rule::Kind::rewrite_frame, "^in", "handle"},
                                       {Rule::Kind::fold_recursion, {}, {}}};
        std::vector<Rule> rules;
        for (uint64_t left = below(4); left; left--)
            rules.push_back(all[below(all.size())]);
        model.set_rules(*Rules::compile(std::move(rules)));
    }
    void rename_location() {
        LocationId location = stream_.location(names_[below(names_.size())]);
        Frame frames[2] = {{"better_" + std::to_string(below(5)), "b.cc", 1, true},
                           {"owner", "b.cc", 2, false}};
        sink_.on_frames(location, {frames, 1 + below(2)});
    }
    void rename_thread() {
        auto tid = static_cast<uint32_t>(100 + below(4)); // 100 is the main thread
        comm_of_[tid] = "comm" + std::to_string(below(3));
        stream_.thread(tid, comm_of_[tid]);
    }

    EventSink& sink_;
    SyntheticStream stream_;
    std::vector<SpecId> specs_;
    std::vector<std::string> names_;
    std::map<uint32_t, Thread> threads_;
    std::vector<CallKey> spans_; // open
    std::map<uint32_t, std::string> comm_of_;
    uint64_t now_ = 10'000 * ms;
};

} // namespace auger
