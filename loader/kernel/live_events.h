// SPDX-License-Identifier: GPL-3.0-or-later
// LiveEvents: from the kernel's records to the event stream: slots become specs, addresses become
// stacks. Calls of specs that are gone are left out.
#pragma once

#include "loader/kernel/live_gates.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/timed_functions.h"
#include "loader/process/fd_target.h"
#include "loader/stream/events.h"
#include "loader/stream/task_samples.h"
#include "loader/stream/wire_decoder.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace auger {

class LiveEvents {
  public:
    LiveEvents(EventSink& sink, LiveNames& names, const TimedFunctions& functions,
               const LiveGates& gates)
        : sink_(sink), names_(names), functions_(functions), gates_(gates),
          task_samples_(sink, [this](uint32_t pid, TaskSamples::Wait& wait) {
              return complete_wait(pid, wait);
          }) {}

    void on_sample(const WireSampleView& sample);
    void on_call_end(const WireCallEndView& end);
    void on_slow_call(const WireSlowCallView& slow);
    void on_call_parts(const WireCallPartsView& call);
    void on_task_send(const WireTaskSendView& send);
    // What user space has seen of a task that waited: see TaskSamples. `may_answer`: it may be for
    // an exchange. False: too many are kept.
    bool on_task_wait(uint32_t pid, uint64_t coroutine, TaskSamples::Wait wait, bool may_answer);
    // How many of these there are in the stream, and how many `only` has kept out of it.
    uint64_t task_waits() const { return task_samples_.waits(); }
    uint64_t gated_task_waits() const { return task_samples_.unwanted_waits(); }
    // What is kept back until more is known of it goes on when its time is up.
    void on_time(uint64_t now_ns) { task_samples_.let_go(now_ns); }
    bool keeps_samples_before(uint64_t time_ns) const {
        return task_samples_.keeps_any_before(time_ns);
    }
    // Nothing more comes.
    void on_end() { task_samples_.let_all_go(); }

  private:
    bool complete_wait(uint32_t pid, TaskSamples::Wait& wait);
    Wait describe(const wire_wait& wait, pid_t pid, uint64_t now_ns);
    std::optional<CallKey> key_of(const wire_call& call) const;
    static CallEndEvent translate(const wire_call_end& end, const CallKey& key, ThreadId thread);
    void note_keys(std::span<const wire_call> calls);
    std::optional<LabelId> label_of(const wire_call_end& end, const CallKey& key,
                                    std::string_view text);
    std::vector<CallValue> values_of(const wire_slow_call& slow, const CallKey& key);

    EventSink& sink_;
    LiveNames& names_;
    const TimedFunctions& functions_;
    const LiveGates& gates_;
    TaskSamples task_samples_;
    std::vector<CallKey> calls_;      // kept to reuse its memory
    std::vector<uint64_t> addresses_; // likewise
    std::vector<CallPart> parts_;     // likewise
    FdTargets descriptors_;
    std::unordered_map<std::string, LabelId> labels_;
};

} // namespace auger
