// SPDX-License-Identifier: GPL-3.0-or-later
// TaskSamples: keeps samples of an event loop's tasks back until it is known for which exchanges
// the task worked, which is when it sends something. Those of a task that ran and sends nothing go
// on as they came; those of one that waited are dropped then: it waited for nobody. An end of a
// call waits for the samples in it that are kept.
#pragma once

#include "loader/stream/events.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace auger {

class TaskSamples {
  public:
    // By when it has to be known: of tasks that ran, and of tasks that waited, which may be for all
    // of a slow exchange.
    static constexpr uint64_t patience_ns = 2'000'000'000, wait_patience_ns = 60'000'000'000;
    // Samples at once, of each kind.
    static constexpr size_t most = 20'000;

    struct Exchange {
        CallKey call;
        uint64_t received_ns = 0; // what came before was for none
    };
    // A task waited. Ids of threads and stacks may be others' by the time that it goes on, so the
    // sample has none until then.
    struct Wait {
        SampleEvent sample;
        std::vector<LocationId> stack; // leaf first
    };
    // Completes the sample of a wait in process `pid`, of which all calls are known; false: nobody
    // wants it.
    using Complete = std::function<bool(uint32_t pid, Wait&)>;

    TaskSamples(EventSink& sink, Complete complete) : sink_(sink), complete_(std::move(complete)) {}

    // Of process `pid`, whose tasks are known by numbers.
    void keep(uint32_t pid, uint64_t task, const SampleEvent& sample);
    // The sample is in no call. False: too many are kept.
    bool keep_wait(uint32_t pid, uint64_t task, Wait wait);
    // It is in calls, and goes on at once.
    void hand_on_wait(uint32_t pid, Wait wait);
    // Some wait of the task is kept.
    bool keeps_waits_of(uint32_t pid, uint64_t task) const { return waits_.contains({pid, task}); }
    // The task was sampled in these exchanges, and in no others of their specs.
    void on_send(uint32_t pid, uint64_t task, std::span<const Exchange> exchanges);
    void on_call_end(const CallEndEvent& end);
    // Those whose time is up.
    void let_go(uint64_t now_ns);
    void let_all_go();
    // Waits apart, of which most are nobody's.
    bool keeps_any_before(uint64_t time_ns) const;
    // Waits that went on.
    uint64_t waits() const { return waits_told_; }

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
    void hand_on_waits(Task task, std::span<const Exchange> exchanges);
    void let_samples_go(uint64_t now_ns);
    void drop_waits(uint64_t before_ns);
    void leave(const CallKey& call, ThreadId thread);

    EventSink& sink_;
    const Complete complete_;
    std::map<Task, std::vector<Kept>> of_tasks_; // never empty ones
    size_t kept_ = 0;
    std::map<Task, std::deque<Wait>> waits_; // likewise
    size_t waits_kept_ = 0;
    uint64_t waits_told_ = 0;
    std::map<Call, OpenCall> calls_;
};

} // namespace auger
