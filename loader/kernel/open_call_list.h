// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that are running now, with what their threads and goroutines do, and likewise all
// threads: BPF programs visit them, and the stacks of those that wait are read from their process's
// memory, by the same tables as samples.
#pragma once

#include "loader/kernel/live_names.h"
#include "loader/kernel/live_unwind.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/reading_budget.h"
#include "loader/kernel/timed_functions.h"
#include "loader/process/fd_target.h"
#include "loader/reports/open_call.h"
#include "loader/unwind/parked_goroutine.h"
#include "loader/unwind/stack_walk.h"

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace auger {

class OpenCallList {
  public:
    OpenCallList(const Programs& programs, LiveNames& names, LiveUnwind& unwind,
                 const TimedFunctions& functions)
        : programs_(programs), names_(names), unwind_(unwind), functions_(functions) {}

    // Of threads, then of goroutines. Fails with kind `unsupported` when no program may visit the
    // threads.
    Result<std::vector<wire_open_call>> visit_calls() const;
    // Of all threads at least one.
    Result<std::vector<wire_open_call>> visit_threads() const;
    // Goroutines are in timed calls, and the kernel forbids listing those.
    bool leaves_out_goroutines() const;
    // The calls of these records, oldest first; of one probe, or of all. By the mappings and tables
    // that are known.
    std::vector<OpenCall> describe(std::span<const wire_open_call> records,
                                   std::optional<ProbeId> probe);
    // Their threads, by processes.
    std::vector<ThreadNow> describe_threads(std::span<const wire_open_call> records);

  private:
    // Of processes, by their ids.
    using Mappings = std::map<uint32_t, std::vector<wire_unwind_mapping>>;
    using ProcessId = std::pair<pid_t, uint64_t>; // its number, and when it began
    bool is_spared(const ProcessId& process) const;
    void spare(const ProcessId& process);
    // What the callers of one answer share.
    struct Reading;

    // Adds what these programs write.
    Result<void> visit_by(ProgramKind program, std::vector<char>& bytes) const;
    Result<void> visit_goroutines(std::vector<char>& bytes) const;
    using Callers = std::vector<std::span<const wire_open_call>>;
    // The records of each thread or goroutine, in the order in which those are looked at, when
    // their processes are known.
    Callers callers_of(std::span<const wire_open_call> records);
    // What all calls of a thread share.
    OpenCall describe_thread(std::span<const wire_open_call> records, Reading& reading);
    OpenCall describe_goroutine(const wire_open_call& record, Reading& reading);
    FindRule rules_of(const wire_open_call& record, Mappings& mappings);
    // User frames as of bpf/unwind_table.h.
    std::vector<uint64_t> read_stack_of(std::span<const wire_open_call> records, Reading& reading);
    // Likewise of a goroutine; none unless it is parked.
    std::vector<uint64_t> read_goroutine_stack(const wire_open_call& record, Mappings& mappings,
                                               ParkedGoroutine::State& state);
    std::vector<OpenCall> describe_spans(std::optional<ProbeId> probe);
    // Where its key is the coroutine of a task: what that awaits.
    void describe_task(uint64_t key, OpenCall& span);
    // The rest of one call; nothing when its probe is gone.
    std::optional<OpenCall> name_call(const wire_open_call& record) const;

    const Programs& programs_;
    LiveNames& names_;
    LiveUnwind& unwind_;
    const TimedFunctions& functions_;
    FdTargets descriptors_;
    // That let us wait for their memory, and until when they are left alone.
    std::map<ProcessId, uint64_t> late_;
};

} // namespace auger
