// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/task_waits.h"

#include "bpf/wire/waiting_tasks.h"
#include "loader/kernel/clock.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace auger {

bool TaskWaits::wanted() const {
    return sampling_.watches_waits() && (probes_.has_exchanges() || !probes_.keyed_spans().empty());
}

uint64_t TaskWaits::period_ns() const {
    return 1'000'000'000 / std::max<uint32_t>(1, sampling_.waits_hz());
}

uint64_t TaskWaits::due_ns() const {
    return wanted() ? due_ns_ : UINT64_MAX;
}

void TaskWaits::update(uint64_t now_ns) {
    if (!wanted())
        processes_.clear();
    if (now_ns < due_ns())
        return;
    const uint64_t period = period_ns();
    period_begin_ns_ = std::max(period_begin_ns_ + period, now_ns - now_ns % period + period);
    due_ns_ = period_begin_ns_ + random_() % period;
    std::vector<pid_t> pids = names_.tasks().processes();
    std::erase_if(processes_, [&](const auto& known) {
        return std::ranges::find(pids, known.first) == pids.end();
    });
    std::erase_if(pids, [&](pid_t pid) { return processes_.try_emplace(pid, now_ns).second; });
    // Who has been looked at the longest ago comes first, where time is not enough for all.
    std::ranges::sort(pids, {}, [this](pid_t pid) { return processes_.at(pid).looked_ns; });
    for (const pid_t pid : pids) {
        Process& process = processes_.at(pid);
        const uint64_t begin = clock_ns();
        if (begin < process.spared_until_ns || !(target_.everything() || target_.contains(pid)) ||
            !filter_.passes(pid))
            continue;
        // Both are asked, so that both go on.
        const bool may_take = budget_.may_look(begin, pace),
                   may_wait = waiting_budget_.may_look(begin, waiting_pace);
        if (!may_take || !may_wait)
            return;
        budget_.spend(look(pid, process, begin));
        waiting_budget_.spend(clock_ns() - begin);
    }
}

uint64_t TaskWaits::look(pid_t pid, Process& process, uint64_t now_ns) {
    const uint64_t begin_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t reading_ns = 0; // another thread's
    const auto found = names_.tasks().waiting(pid, random_(), slice_ns, reading_ns);
    if (found && !found->tasks)
        process.spared_until_ns = now_ns + pause_ns;
    if (found) {
        const uint64_t since = std::min(now_ns - process.looked_ns, longest_ns);
        process.looked_ns = now_ns;
        const double share = static_cast<double>(found->tasks) /
                             static_cast<double>(std::max<size_t>(1, found->looked_at));
        for (const AwaitChain& chain : found->waiting)
            tell(pid, chain, now_ns, static_cast<uint64_t>(static_cast<double>(since) * share));
    }
    return reading_ns + read_clock(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

void TaskWaits::tell(pid_t pid, const AwaitChain& chain, uint64_t now_ns, uint64_t weight_ns) {
    const uint64_t coroutine = chain.tasks.front().task.coroutine;
    const std::vector<CallKey> spans = spans_of(pid, coroutine);
    if (spans.empty() && !probes_.has_exchanges())
        return;
    const auto process = static_cast<uint32_t>(pid);
    // First, so that what is sent from now on is told.
    if (spans.empty() && !events_.keeps_waits_of(process, coroutine)) {
        const wire_waiting_task key = {coroutine, process, 0};
        const uint8_t is_there = 1;
        (void)bpf_map_update_elem(programs_.map_fd(MapKind::waiting_tasks), &key, &is_there,
                                  BPF_ANY);
    }
    TaskSamples::Wait wait;
    wait.sample.time_ns = now_ns;
    wait.sample.weight_ns = weight_ns;
    wait.sample.kind = chain.is_ready ? SampleKind::runnable : SampleKind::blocked;
    wait.sample.calls = spans;
    wait.stack = names_.parked_stack(pid, now_ns, chain, sampling_.with_tasks());
    if (!events_.on_task_wait(process, coroutine, std::move(wait)))
        lost_++;
}

std::vector<CallKey> TaskWaits::spans_of(pid_t pid, uint64_t coroutine) const {
    std::vector<CallKey> calls;
    for (const auto& [spec, slot, generation] : probes_.keyed_spans()) {
        const auto span =
            programs_.find_span({coroutine, static_cast<uint32_t>(pid), slot, generation});
        if (span && !span->attached_since_ns)
            calls.push_back({span->start_ns, span->sequence, spec});
    }
    return calls;
}

} // namespace auger
