// SPDX-License-Identifier: GPL-3.0-or-later
// BusyStream: the event stream of a large service: 100,000 distinct stacks, whose tree has a
// million nodes, and calls of random length with a few samples each.
#pragma once

#include "loader/stream/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

namespace auger::bench {

class BusyStream {
  public:
    static constexpr uint64_t between_ns = 100'000; // of two samples
    static constexpr uint32_t stacks = 100'000, functions = 20'000, threads = 64;

    // Defines everything.
    explicit BusyStream(EventSink& sink) : sink_(sink) {
        sink_.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", ""});
        for (uint32_t i = 0; i < functions; i++) {
            sink_.on_location(LocationId{i}, {ModuleId{0}, i * 16, true});
            Frame frame{fmt::format("namespace_{}::function_{}", i % 97, i), "main.cc", i, false};
            sink_.on_frames(LocationId{i}, {&frame, 1});
        }
        for (uint32_t i = 0; i < threads; i++)
            sink_.on_thread(ThreadId{i}, {1, 1 + i, "service"});
        // A trunk of common frames, limbs that some share, and twigs of their own.
        std::vector<LocationId> stack;
        for (uint32_t i = 0; i < stacks; i++) {
            stack.clear();
            for (uint32_t depth = 0; depth < 10; depth++)
                stack.push_back(LocationId{depth * 100 + (i % (1u << depth)) % 100});
            for (uint32_t depth = 0; depth < 10; depth++)
                stack.push_back(LocationId{2'000 + static_cast<uint32_t>(random_() % 15'000)});
            std::reverse(stack.begin(), stack.end());
            sink_.on_stack(StackId{i}, stack);
        }
        sink_.on_spec(SpecId{0}, {ProbeId{1}, "function_0", "/usr/bin/service", 0,
                                  ObservedExit::parse("ret")});
        sink_.on_probe({ProbeId{1}, "outer", {SpecId{0}}, {}, false});
        sink_.on_split({true, ProbeId{1}, {Threshold::Kind::fixed, 40 * between_ns, 0}, false});
    }

    // Nine of ten samples lie in a call.
    void feed(size_t samples) {
        for (size_t i = 0; i < samples; i++) {
            time_ns_ += between_ns;
            auto thread = static_cast<uint32_t>(random_() % threads);
            CallKey& call = calls_[thread];
            if (call.sequence && random_() % 4 == 0) {
                CallEndEvent end;
                end.time_ns = time_ns_;
                end.duration_ns = random_() % (80 * between_ns);
                end.thread = ThreadId{thread};
                end.call = call;
                sink_.on_call_end(end);
                call = {};
            }
            if (!call.sequence && random_() % 4)
                call = {time_ns_ - 1, ++sequence_, SpecId{0}};
            SampleEvent sample;
            sample.time_ns = time_ns_;
            sample.weight_ns = 1'000'000;
            sample.thread = ThreadId{thread};
            sample.stack = StackId{static_cast<uint32_t>(random_() % stacks)};
            if (call.sequence)
                sample.calls = {&call, 1};
            sink_.on_sample(sample);
        }
    }

  private:
    EventSink& sink_;
    std::mt19937 random_{1};
    CallKey calls_[threads] = {};
    uint32_t sequence_ = 0;
    uint64_t time_ns_ = 1'000'000'000;
};

} // namespace auger::bench
