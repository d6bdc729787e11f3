// SPDX-License-Identifier: GPL-3.0-or-later
// TaskSamples: keeps samples of an event loop's tasks back until it is known for which exchanges
// the task worked, which is when it sends something. Those of a task that sends nothing go on as
// they came. An end of a call waits for the samples in it that are kept.
#pragma once

#include "loader/stream/events.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace auger {

class TaskSamples {
  public:
    // By when it has to be known.
    static constexpr uint64_t patience_ns = 2'000'000'000;
    // Samples at once.
    static constexpr size_t most = 20'000;

    struct Exchange {
        CallKey call;
        uint64_t received_ns = 0; // what came before was for none
    };

    explicit TaskSamples(EventSink& sink) : sink_(sink) {}

    // Of process `pid`, whose tasks are known by numbers.
    void keep(uint32_t pid, uint64_t task, const SampleEvent& sample);
    // The task was sampled in these exchanges, and in no others of their specs.
    void on_send(uint32_t pid, uint64_t task, std::span<const Exchange> exchanges);
    void on_call_end(const CallEndEvent& end);
    // Those whose time is up.
    void let_go(uint64_t now_ns);
    void let_all_go();
    bool keeps_any_before(uint64_t time_ns) const;

  private:
    using Task = std::pair<uint32_t, uint64_t>; // pid, task
    struct Kept {
        SampleEvent sample;
        std::vector<CallKey> calls;
    };
    // Of a thread's call also which thread's.
    using Call = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t>;
    struct OpenCall {
        size_t samples = 0; // in it that are kept
        std::optional<CallEndEvent> end{};
    };

    static Call name_of(const CallKey& call, ThreadId thread);
    void hand_on(std::vector<Kept>& samples, std::span<const Exchange> exchanges);
    void leave(const CallKey& call, ThreadId thread);

    EventSink& sink_;
    std::map<Task, std::vector<Kept>> of_tasks_; // never empty ones
    size_t kept_ = 0;
    std::map<Call, OpenCall> calls_;
};

} // namespace auger
