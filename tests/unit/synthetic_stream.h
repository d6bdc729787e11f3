// SPDX-License-Identifier: GPL-3.0-or-later
// A small builder of event streams: tests say functions by name and calls by time, and get sound
// definitions for them.
#pragma once

#include "bpf/wire.h"
#include "loader/stream/events.h"

#include <map>
#include <string>
#include <vector>

namespace auger {

class SyntheticStream {
  public:
    explicit SyntheticStream(EventSink& sink) : sink_(sink) {
        sink_.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", "abcd"});
        sink_.on_module(ModuleId{1}, {ModuleKind::kernel, "[kernel]", ""});
    }

    // Root first; a name that begins with "k:" is a kernel function, with "c:" one of the C
    // library, with "s:" a system call that is waited in, with "p:" one of Python, with "t:" a
    // task, with "g:" a label of a goroutine.
    StackId stack(const std::vector<std::string>& root_first) {
        auto [it, is_new] = stacks_.try_emplace(root_first, StackId{uint32_t(stacks_.size())});
        if (is_new) {
            std::vector<LocationId> locations;
            for (auto name = root_first.rbegin(); name != root_first.rend(); ++name)
                locations.push_back(location(*name));
            sink_.on_stack(it->second, locations);
        }
        return it->second;
    }

    // Of process 100, unless it is said the first time that the thread is named.
    ThreadId thread(uint32_t tid, const std::string& comm = "service", uint32_t pid = 100) {
        auto [it, is_new] = threads_.try_emplace({tid, comm}, ThreadId{uint32_t(threads_.size())});
        if (is_new)
            sink_.on_thread(it->second, {pid, tid, comm});
        return it->second;
    }

    // One probe with one function of the same name, unless `function` says otherwise.
    SpecId probe(uint32_t id, const std::string& text, Threshold slow = {}) {
        SpecId spec = add_spec(id, text);
        edit_probe(id, text, {spec}, slow);
        return spec;
    }
    SpecId add_spec(uint32_t probe, const std::string& function) {
        SpecId spec{specs_++};
        sink_.on_spec(spec, {ProbeId{probe}, function, "/usr/bin/service", 0x1000 + spec.value,
                             ObservedExit::parse("ret")});
        return spec;
    }
    void edit_probe(uint32_t id, const std::string& text, std::vector<SpecId> specs,
                    Threshold slow) {
        sink_.on_probe({ProbeId{id}, text, std::move(specs), slow, false});
    }

    void split(uint32_t probe, Threshold threshold, bool so_far = false) {
        sink_.on_split({true, ProbeId{probe}, threshold, so_far});
    }
    static Threshold fixed(uint64_t ns) { return {Threshold::Kind::fixed, ns, 0}; }
    static Threshold percentile(double p) { return {Threshold::Kind::percentile, 0, p}; }

    CallKey call(SpecId spec, uint64_t start_ns) { return {start_ns, ++sequence_, spec}; }

    void sample(uint64_t time_ns, uint32_t tid, StackId stack,
                const std::vector<CallKey>& calls = {}, uint64_t weight_ns = 1'000'000,
                SampleKind kind = SampleKind::cpu) {
        SampleEvent event;
        event.time_ns = time_ns;
        event.weight_ns = weight_ns;
        event.thread = thread(tid);
        event.stack = stack;
        event.calls = calls;
        event.kind = kind;
        sink_.on_sample(event);
        (kind == SampleKind::cpu ? samples_ : wait_samples_)++;
    }

    void end(uint32_t tid, const CallKey& call, uint64_t duration_ns, bool unwound = false,
             uint32_t marks = 0, std::optional<LabelId> label = {}) {
        sink_.on_call_end({call.start_ns + duration_ns,
                           duration_ns,
                           thread(tid),
                           call,
                           1,
                           unwound,
                           {},
                           marks,
                           label});
    }
    LabelId label(const std::string& text) {
        auto [it, is_new] = labels_.try_emplace(text, LabelId{uint32_t(labels_.size())});
        if (is_new)
            sink_.on_label(it->second, text);
        return it->second;
    }

    // Returned calls of these durations, as the counters report them.
    void stats(uint64_t time_ns, SpecId spec, const std::vector<uint64_t>& durations,
               uint64_t unwound = 0, int64_t open = 0, uint64_t dropped = 0,
               std::vector<StatsEvent::MarkCount> marked = {}, uint64_t filtered = 0) {
        StatsEvent event;
        event.time_ns = time_ns;
        event.spec = spec;
        std::map<uint32_t, uint64_t> buckets;
        auto& [low, high] = bounds_[spec.value];
        for (uint64_t ns : durations) {
            buckets[wire_histogram_bucket(ns)]++;
            event.sum_ns += ns;
            low = low ? std::min(low, ns) : ns;
            high = std::max(high, ns);
        }
        for (auto [index, count] : buckets)
            event.buckets.push_back({index, count});
        event.returns = durations.size();
        event.unwound = unwound;
        event.open = open;
        event.dropped = dropped;
        event.marked = std::move(marked);
        event.filtered = filtered;
        event.entries = event.returns + unwound + dropped + filtered + static_cast<uint64_t>(open);
        event.min_ns = low;
        event.max_ns = high;
        sink_.on_stats(event);
    }

    // A ledger that agrees with what was sent.
    void ledger(uint64_t time_ns, uint64_t filtered = 0, uint64_t lost = 0,
                const Overhead& overhead = {}) {
        LedgerEvent event;
        event.overhead = overhead;
        event.time_ns = time_ns;
        event.samples = samples_;
        event.filtered = filtered;
        event.ticks = samples_ + filtered + lost;
        event.on_cpu_ns = 1'000'000 * event.ticks;
        event.wall = wait_samples_ > 0;
        event.wait_samples = wait_samples_;
        event.waits = 10 * wait_samples_;
        event.sample_gap_ns = 12'500;
        event.rate_hz = 999;
        event.rate_achieved_hz = 998.5;
        event.lost = {{lost_samples, lost}, {"ring full: ends of calls", 0}};
        sink_.on_ledger(event);
    }

    LocationId location(const std::string& name) {
        auto [it, is_new] = locations_.try_emplace(name, LocationId{uint32_t(locations_.size())});
        if (is_new) {
            const ModuleId module = module_of(name);
            sink_.on_location(it->second, {module, 0x2000 + it->second.value, true});
            Frame frame{module == ModuleId{0} ? name : name.substr(2), "/src/main.cc",
                        10 + it->second.value, false};
            sink_.on_frames(it->second, {&frame, 1});
        }
        return it->second;
    }

  private:
    ModuleId module_of(const std::string& name) {
        if (name.starts_with("k:"))
            return ModuleId{1};
        if (name.size() < 2 || name[1] != ':')
            return ModuleId{0};
        if (!more_modules_) {
            sink_.on_module(ModuleId{2}, {ModuleKind::file, "/usr/lib/libc.so.6", "cdef"});
            sink_.on_module(ModuleId{3}, {ModuleKind::syscall, "[syscall]", ""});
            sink_.on_module(ModuleId{4}, {ModuleKind::python, "/srv/app.py", ""});
            sink_.on_module(ModuleId{5}, {ModuleKind::task, "[task]", ""});
            sink_.on_module(ModuleId{6}, {ModuleKind::go_label, "[golabel]", ""});
            more_modules_ = true;
        }
        switch (name[0]) {
        case 'c':
            return ModuleId{2};
        case 's':
            return ModuleId{3};
        case 't':
            return ModuleId{5};
        case 'g':
            return ModuleId{6};
        default:
            return ModuleId{4};
        }
    }

    EventSink& sink_;
    bool more_modules_ = false;
    std::map<std::string, LocationId> locations_;
    std::map<std::vector<std::string>, StackId> stacks_;
    std::map<std::pair<uint32_t, std::string>, ThreadId> threads_;
    std::map<std::string, LabelId> labels_;
    std::map<uint32_t, std::pair<uint64_t, uint64_t>> bounds_; // min and max by spec
    uint32_t specs_ = 0;
    uint32_t sequence_ = 0;
    uint64_t samples_ = 0;
    uint64_t wait_samples_ = 0;
};

} // namespace auger
