// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/hit_costs.h"

#include "loader/base/read_clock.h"
#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/calibration_guard.h"
#include "loader/kernel/exit_cookie.h"
#include "loader/kernel/link_processes.h"
#include "loader/kernel/spec_table.h"
#include "loader/process/proc_maps.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

extern "C" {
void auger_hit_emulated();
void auger_hit_stepped();
void auger_hit_optimised();
void auger_hit_returns();
void auger_hit_jumps(); // five, of auger_hit_jump_bytes each
extern const char auger_hit_emulated_exit[], auger_hit_stepped_exit[], auger_hit_optimised_exit[],
    auger_hit_first_jump[];
extern const size_t auger_hit_jump_bytes;
extern const uint8_t auger_hit_jump_condition;
}

namespace auger {

namespace {

// Calls that are measured together, and how often that is done.
constexpr size_t calls = 50, batches = 7;

using Function = void (*)();

// CPU time: what others do meanwhile is no cost of ours.
uint64_t thread_clock_ns() {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

// Of the batches, for each call.
struct Taken {
    uint64_t middle_ns; // one that was interrupted does not count
    uint64_t least_ns;  // what it took when nothing was in the way
};

Taken taken_by(Function function) {
    for (size_t i = 0; i < calls; i++)
        function(); // memory for its calls, page faults
    std::array<uint64_t, batches> taken = {};
    for (uint64_t& ns : taken) {
        const uint64_t begin = thread_clock_ns();
        for (size_t i = 0; i < calls; i++)
            function();
        ns = (thread_clock_ns() - begin) / calls;
    }
    std::ranges::sort(taken);
    return {taken[batches / 2], taken.front()};
}

std::optional<uint64_t> offset_of(const void* code) {
    const auto address = reinterpret_cast<uintptr_t>(code);
    const auto maps = read_maps(getpid());
    if (!maps)
        return {};
    for (const Mapping& mapping : *maps)
        if (address >= mapping.start && address < mapping.end)
            return address - mapping.start + mapping.offset;
    return {};
}

// Some functions of ours, called with and without probes.
class Measurement {
  public:
    Measurement(Programs& programs, AttachWay way, uint64_t cookie, LinkProcesses* processes)
        : programs_(programs), way_(way), cookie_(cookie), processes_(processes) {}
    ~Measurement() {
        // Detaching takes up to 0.1 s.
        if (processes_)
            processes_->close_later(std::move(links_));
        else
            std::thread([links = std::move(links_)] {}).detach();
    }

    bool attach(ProgramKind kind, std::span<const void* const> places,
                uint32_t type = bpf_trace_uprobe_multi, bool returns = false,
                uint64_t exit_bits = 0) {
        const auto program = programs_.program(kind);
        std::vector<uint64_t> offsets;
        for (const void* code : places) {
            const auto offset = offset_of(code);
            if (!offset || !program)
                return false;
            offsets.push_back(*offset);
        }
        const std::vector<uint64_t> cookies(offsets.size(), cookie_ | exit_bits);
        if (way_ == AttachWay::multi)
            return keep(create_uprobe_multi_link(*program, type, own_program, offsets, cookies,
                                                 getpid(), returns));
        return std::ranges::all_of(offsets, [&](uint64_t offset) {
            return keep(create_perf_uprobe(*program, own_program, offset, cookie_ | exit_bits,
                                           getpid(), returns));
        });
    }
    Taken taken_when_probed(Function function) {
        const CalibrationGuard calibrating(programs_, WIRE_CALIBRATE_CALLS);
        return taken_by(function);
    }

  private:
    bool keep(Result<UniqueFd> link) {
        if (link)
            links_.push_back(std::move(*link));
        return bool(link);
    }

    Programs& programs_;
    AttachWay way_;
    uint64_t cookie_;
    LinkProcesses* processes_;
    std::vector<UniqueFd> links_;
};

uint64_t less(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

const void* code_of(Function function) {
    return reinterpret_cast<const void*>(function);
}

// Of a thread that has timed calls, so after those. The first hit in a call costs it more, as the
// processor does not foresee its `ret` any more, and a call that passes a jump has had its first:
// what further ones add is what counts. That is taken out of durations, where too much would be
// worse than too little: the least that it took.
uint64_t passed_jump_ns(Measurement& measurement) {
    constexpr size_t jumps = 5;
    std::vector<const void*> places;
    for (size_t i = 0; i < jumps; i++)
        places.push_back(auger_hit_first_jump + i * auger_hit_jump_bytes);
    const auto ns_with = [&](std::span<const void* const> more) {
        return measurement.attach(ProgramKind::call_exit, more, bpf_trace_uprobe_multi, false,
                                  condition_bits(auger_hit_jump_condition))
                   ? measurement.taken_when_probed(auger_hit_jumps).least_ns
                   : 0;
    };
    const std::span<const void* const> all(places);
    const uint64_t first = ns_with(all.first(1));
    return first ? less(ns_with(all.subspan(1)), first) / (jumps - 1) : 0;
}

// With probes at both ends of the first three functions, and a return probe at the last one.
HitCosts measure(Measurement& measurement, const Features& features, AttachWay way) {
    const std::array<Function, 4> functions = {auger_hit_stepped, auger_hit_emulated,
                                               auger_hit_optimised, auger_hit_returns};
    const std::array<const void*, 3> entries = {code_of(functions[0]), code_of(functions[1]),
                                                code_of(functions[2])};
    const std::array<const void*, 3> exits = {auger_hit_stepped_exit, auger_hit_emulated_exit,
                                              auger_hit_optimised_exit};
    const std::array<const void*, 1> last = {code_of(functions[3])};
    // Each of perf's takes 0.1 s to detach: only what cannot be done without.
    const bool multi = way == AttachWay::multi;
    const size_t pairs = multi ? 3 : 2;

    HitCosts costs;
    std::array<uint64_t, 4> taken = {};
    std::ranges::transform(functions, taken.begin(),
                           [](Function function) { return taken_by(function).middle_ns; });
    // The ends first: a call is seen whole or not at all.
    if (!measurement.attach(ProgramKind::call_exit, std::span(exits).first(pairs)) ||
        !measurement.attach(ProgramKind::call_entry, std::span(entries).first(pairs)))
        return costs;
    const bool returns =
        multi &&
        (features.uprobe_session
             ? measurement.attach(ProgramKind::call_session, last, bpf_trace_uprobe_session)
             : measurement.attach(ProgramKind::call_return, last, bpf_trace_uprobe_multi, true) &&
                   measurement.attach(ProgramKind::call_entry, last));
    for (size_t i = 0; i < functions.size(); i++)
        taken[i] = less(measurement.taken_when_probed(functions[i]).middle_ns, taken[i]);
    if (!taken[0])
        return costs;
    // Two hits of one kind, and of another; then one with one that is as dear: what is left of
    // much, less nearly as much, may be nothing at all.
    costs.stepped_ns = taken[0] / 2;
    costs.emulated_ns = taken[1] / 2;
    costs.optimised_ns = multi ? less(taken[2], costs.emulated_ns) : costs.emulated_ns;
    costs.return_ns = returns ? less(taken[3], costs.emulated_ns) : costs.stepped_ns;
    costs.passed_jump_ns = passed_jump_ns(measurement);
    costs.measured = true;
    return costs;
}

} // namespace

uint64_t HitCosts::of(ProbeCost cost) const {
    switch (cost) {
    case ProbeCost::optimised:
        return optimised_ns;
    case ProbeCost::emulated:
        return emulated_ns;
    case ProbeCost::single_stepped:
    case ProbeCost::refused:
        break;
    }
    return stepped_ns;
}

HitCosts measure_hit_costs(Programs& programs, SpecTable& specs, const Features& features,
                           AttachWay way, LinkProcesses* processes) {
    auto spec = specs.add({});
    if (!spec)
        return {};
    Measurement measurement(programs, way, specs.cookie(*spec), processes);
    const HitCosts costs = measure(measurement, features, way);
    specs.retract(*spec);
    programs.config().passed_jump_ns = static_cast<uint32_t>(costs.passed_jump_ns);
    return costs;
}

} // namespace auger
