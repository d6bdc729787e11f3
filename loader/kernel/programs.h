// SPDX-License-Identifier: GPL-3.0-or-later
// Programs: the BPF object, opened, its maps made and its process tracepoints attached. Three
// lifetimes meet here and stay apart: knobs are set before loading, live values are written through
// config(), and attachments of probes and samplers belong to others, who ask for programs. The
// kernel takes up to 0.3 s to verify one, so each is loaded when it is first asked for.
#pragma once

#include "bpf/unwind_table.h"
#include "bpf/wire.h"
#include "loader/base/result.h"
#include "loader/kernel/open_spans.h"
#include "loader/stream/events.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace auger {

// What the kernel can load.
struct ProgramsOptions {
    bool uprobe_multi = true;         // the tracker for uprobe_multi links, else for perf events
    bool uprobe_session = true;       // the tracker for session links
    bool off_cpu = true;              // the off-CPU sampler
    bool task_iterators = true;       // the program that lists open calls
    bool socket_tracepoints = false;  // what watches connections
    bool map_iterators = false;       // the program that lists goroutines' open calls
    bool disables_preemption = false; // during look-ups of task storage (bpf/thread_storage.h)
    uint32_t late_walk_jiffies = WIRE_UNWIND_LATE_JIFFIES;
};

enum class ProgramKind {
    call_entry,
    short_call,
    call_exit,
    call_return,
    call_session,
    go_call_entry,
    go_call_exit,
    goroutine_end,
    goroutine_switch,
    line_reached,
    span_point,
    sweep_spans,
    exchange_receive,
    exchange_send,
    exchange_arrival,
    exchange_state,
    exchange_wait,
    sampler,
    off_cpu_switch,
    off_cpu_waking,
    open_call_list,
    thread_list,
    goroutine_call_list,
};

// What became of the sampler's ticks: ticks = samples + filtered + gated + lost.
struct SamplerCounts {
    uint64_t ticks = 0, samples = 0;
    uint64_t filtered = 0; // outside the target or the filter
    uint64_t gated = 0;    // kept back by a gate
    uint64_t lost = 0;     // the event ring was full
    uint64_t own_ns = 0;   // what samples and gated ticks cost the threads they hit
};

enum class MapKind {
    specs,
    histogram_blocks,
    events,
    targets,
    target_comms,
    filter_pids,
    filter_tids,
    filter_cgroups,
    filter_comms,
    call_programs,
    mark_counts,
    gates,
    call_operands,
    call_targets,
    go_runtimes,
    go_counts,
    goroutine_calls,
    go_processes,
    spans,
    exchange_spans,
    unwind_cells,
    unwind_processes,
    python_layouts,
    thread_contexts,
    waiting_tasks,
    hotspot_processes,
    v8_layouts,
    php_layouts,
    ruby_layouts,
    perl_layouts,
};

class Programs {
  public:
    // Fails with kind `unsupported` when a privilege or kernel feature is missing.
    static Result<std::unique_ptr<Programs>> load(const ProgramsOptions& options);
    ~Programs();

    // By the options.
    bool can_load(ProgramKind kind) const;
    // Its descriptor, which stays ours. Fails with kind `unsupported` when the kernel refuses it.
    Result<int> program(ProgramKind kind) const;
    // The same program several times, each for one probe at a tracepoint: [0, tracepoint_programs).
    static constexpr size_t tracepoint_programs = 6;
    Result<int> tracepoint_program(size_t index) const;
    int map_fd(MapKind kind) const;
    // The caller's own, also when this is gone.
    UniqueFd own_map_fd(MapKind kind) const;
    // Seen by every program at its next event.
    volatile wire_config& config();
    // Ends every edit of the target or of config().filter: from here on threads are asked again
    // whether they are observed.
    void renew_scope();

    // What the tracker counts, [spec][cpu].
    wire_call_counters* call_counters(uint32_t spec) const;
    // WIRE_UNWIND_TABLES of them.
    wire_unwind_table* unwind_tables() const;
    // Sums over the CPUs.
    std::array<uint64_t, WIRE_LOSSES> losses() const;
    SamplerCounts sampler_counts() const;
    wire_wait_stats wait_stats() const;
    uint64_t gated_slow_calls() const;
    // Those that are open. Any of them may end meanwhile.
    void visit_spans(const std::function<void(const wire_span&)>& visit) const;
    std::shared_ptr<const OpenSpans> open_spans() const;
    // Of all spans that this spec has been.
    SpanCounts span_counts(uint32_t spec) const;
    // Of the Go function that the spec is now.
    SpanCounts go_counts(uint32_t spec) const;
    // How often goroutines left threads, got ready and came back: the target's, and those of other
    // processes that run the same programs.
    struct GoroutineSwitches {
        uint64_t of_target = 0, of_others = 0;
    };
    GoroutineSwitches goroutine_switches() const;
    // By what wire.h says.
    std::array<uint64_t, WIRE_OTHER_HITS> other_hits() const;

    uint32_t possible_cpus() const; // values of an element of a per-CPU map
    uint32_t cpu_ids() const;       // numbers of CPUs are below it; some may be missing
    // [cpu_ids()], written by the sampler and by who calibrates.
    wire_tick_cost* tick_costs() const;
    // How often a tracepoint was hit while another program was running on its CPU, so that the
    // kernel did not run ours; before Linux 6.7 nobody counts that.
    uint64_t missed_tracepoints() const;
    // Receives and sends that exchanges know nothing of, for the same reason.
    uint64_t missed_socket_calls() const;
    // Of the process tracepoints.
    std::vector<uint64_t> link_ids() const;

  private:
    struct State;
    explicit Programs(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace auger
