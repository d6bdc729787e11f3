// SPDX-License-Identifier: GPL-3.0-or-later
// TaskSamples: keeps samples of an event loop's tasks back until it is known for which exchanges
// the task worked, which is when it sends something. Those of a task that sends nothing go on as
// they came, but for waits that are in no call then: it waited for nobody. An end of a call waits
// for the samples in it that are kept.
#pragma once

#include "loader/stream/events.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace auger {

class TaskSamples {
  public:
    // By when it has to be known: of what others wait for, and of waits in no call, which may be
    // all of a slow exchange.
    static constexpr uint64_t patience_ns = 2'000'000'000, wait_patience_ns = 60'000'000'000;
    // Samples at once, of each kind. Of waits in no call half of that of one process, and so much
    // memory: stacks may be deep.
    static constexpr size_t most = 20'000, most_wait_bytes = 16 << 20;

    struct Exchange {
        CallKey call;
        uint64_t received_ns = 0; // what came before was for none
    };
    // Where a task waits.
    struct WaitStack {
        struct Task {     // a frame that says which it is
            size_t place; // in `locations`, in front of it
            std::string function, name;
        };
        std::vector<LocationId> locations; // leaf first
        std::vector<Task> tasks{};         // likewise
    };
    // A task waited. Ids of threads and stacks may be others' by the time that it goes on, and most
    // waits never do: so the sample has none until then.
    struct Wait {
        SampleEvent sample;
        WaitStack stack;
    };
    // Completes the sample of a wait in process `pid`, of which all calls are known; false: nobody
    // wants it.
    using Complete = std::function<bool(uint32_t pid, Wait&)>;

    TaskSamples(EventSink& sink, Complete complete) : sink_(sink), complete_(std::move(complete)) {}

    // Of process `pid`, whose tasks are known by numbers.
    void keep(uint32_t pid, uint64_t task, const SampleEvent& sample);
    // False: too many are kept.
    bool keep_wait(uint32_t pid, uint64_t task, Wait wait);
    // Nobody asks for exchanges: it goes on at once.
    void hand_on_wait(uint32_t pid, Wait wait);
    // The task was sampled in these exchanges up to then, and in no others of their specs.
    void on_send(uint32_t pid, uint64_t task, uint64_t sent_ns,
                 std::span<const Exchange> exchanges);
    void on_call_end(const CallEndEvent& end);
    // Those whose time is up.
    void let_go(uint64_t now_ns);
    void let_all_go();
    // But for waits in no call, of which most are nobody's.
    bool keeps_any_before(uint64_t time_ns) const;
    // Waits that went on, and those that nobody wanted.
    uint64_t waits() const { return waits_told_; }
    uint64_t unwanted_waits() const { return waits_unwanted_; }

  private:
    using Task = std::pair<uint32_t, uint64_t>; // pid, task
    struct Kept {
        SampleEvent sample;
        std::vector<CallKey> calls;
        std::optional<WaitStack> wait{};
    };
    // Of a thread's call also which thread's.
    using Call = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t>;
    struct OpenCall {
        size_t samples = 0; // in it that are kept
        std::optional<CallEndEvent> end{};
    };

    static Call name_of(const CallKey& call, ThreadId thread);
    void keep(Task task, Kept kept);
    void hand_on(Task task, std::vector<Kept>& samples, uint64_t sent_ns,
                 std::span<const Exchange> exchanges);
    void hand_on_waits(Task task, uint64_t sent_ns, std::span<const Exchange> exchanges);
    void let_samples_go(uint64_t now_ns);
    void drop_waits(uint64_t before_ns);
    void leave(const CallKey& call, ThreadId thread);
    // A wait in no call comes, or goes; false: there is no room for it.
    bool enter(uint32_t pid, const Wait& wait);
    void forget(uint32_t pid, const Wait& wait);

    EventSink& sink_;
    const Complete complete_;
    std::map<Task, std::vector<Kept>> of_tasks_; // never empty ones
    size_t kept_ = 0;
    std::map<Task, std::deque<Wait>> waits_; // likewise
    struct Room {
        size_t waits = 0, bytes = 0;
    };
    Room room_;                           // that waits in no call take
    std::map<uint32_t, size_t> waits_of_; // of each process; never 0
    uint64_t waits_told_ = 0, waits_unwanted_ = 0;
    uint64_t next_drop_ns_ = 0;
    std::map<Call, OpenCall> calls_;
};

} // namespace auger
