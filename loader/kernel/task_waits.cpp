// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/task_waits.h"

#include "bpf/wire/waiting_tasks.h"
#include "loader/kernel/clock.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace auger {
namespace {

constexpr const char* lost_task_waits =
    "samples of tasks that wait: not looked at in time, or more than can be kept";

} // namespace

void TaskWaits::report(LedgerEvent& ledger) const {
    ledger.wait_samples += events_.task_waits();
    ledger.gated_waits += events_.gated_task_waits();
    ledger.lost[lost_task_waits] = lost_;
}

bool TaskWaits::wanted() const {
    return sampling_.watches_waits() && (probes_.has_exchanges() || !probes_.keyed_spans().empty());
}

uint64_t TaskWaits::period_ns() const {
    return 1'000'000'000 / std::clamp<uint32_t>(sampling_.waits_hz(), 1, most_hz);
}

uint64_t TaskWaits::due_ns() const {
    return wanted() ? due_ns_ : UINT64_MAX;
}

std::vector<pid_t> TaskWaits::observed() const {
    std::vector<pid_t> pids = names_.tasks().processes();
    std::erase_if(pids, [this](pid_t pid) {
        return !(target_.everything() || target_.contains(pid)) || !filter_.passes(pid);
    });
    return pids;
}

void TaskWaits::update(uint64_t now_ns) {
    if (!wanted())
        processes_.clear();
    if (now_ns < due_ns())
        return;
    std::vector<pid_t> pids = observed();
    std::erase_if(processes_, [&](const auto& known) {
        return std::ranges::find(pids, known.first) == pids.end();
    });
    for (const pid_t pid : pids)
        processes_.try_emplace(pid, Process{now_ns});
    std::erase_if(pids, [&](pid_t pid) { return now_ns < processes_.at(pid).spared_until_ns; });
    // Nobody to look at: somebody may come.
    if (pids.empty()) {
        due_ns_ = now_ns + pause_ns;
        return;
    }
    const uint64_t period = period_ns();
    due_ns_ = now_ns - now_ns % period + period + random_() % period;
    // Who has had no turn for the longest time comes first, where time is not enough for all.
    std::ranges::sort(pids, {}, [this](pid_t pid) { return processes_.at(pid).tried_ns; });
    for (const pid_t pid : pids) {
        const uint64_t begin = clock_ns();
        // Both are asked, so that both go on.
        const bool may_take = budget_.may_look(begin, pace),
                   may_wait = waiting_budget_.may_look(begin, waiting_pace);
        if (!may_take || !may_wait) {
            due_ns_ += std::max(budget_.pause_ns(pace), waiting_budget_.pause_ns(waiting_pace));
            return;
        }
        budget_.spend(look(pid, processes_.at(pid), begin));
        waiting_budget_.spend(clock_ns() - begin);
    }
}

uint64_t TaskWaits::look(pid_t pid, Process& process, uint64_t now_ns) {
    const uint64_t begin_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t reading_ns = 0; // another thread's
    programs_.config().with_waiting_tasks = 1;
    // At once: when all have been looked at a task's span may be over, and what it sends then has
    // to be told.
    const auto spans = std::make_shared<SpansOfTasks>();
    const auto note = [spans, open = spans_, keyed = probes_.keyed_spans(), waiting = waiting_,
                       answers = probes_.has_exchanges(),
                       tgid = static_cast<uint32_t>(pid)](uint64_t coroutine) {
        std::vector<CallKey>& of_task = spans->emplace_back();
        for (const auto& [spec, slot, generation] : keyed)
            if (const auto span = open->find({coroutine, tgid, slot, generation});
                span && !span->attached_since_ns)
                of_task.push_back({span->start_ns, span->sequence, spec});
        const wire_waiting_task key = {coroutine, tgid, 0};
        const auto what = static_cast<uint8_t>((answers ? WIRE_WAITING_FOR_SEND : 0) |
                                               (of_task.empty() ? 0 : WIRE_WAITING_IN_SPAN));
        if (what)
            (void)bpf_map_update_elem(waiting->get(), &key, &what, BPF_ANY);
    };
    const auto found = names_.tasks().waiting(pid, random_(), slice_ns, note, reading_ns);
    process.tried_ns = now_ns;
    if (!found || !found->tasks)
        process.spared_until_ns = now_ns + pause_ns;
    if (found) {
        const uint64_t since = now_ns - std::exchange(process.looked_ns, now_ns);
        const double share = static_cast<double>(found->tasks) /
                             static_cast<double>(std::max<size_t>(1, found->looked_at));
        const double each = static_cast<double>(std::min(since, longest_ns)) * share;
        if (since > longest_ns)
            lost_ += (since - longest_ns) / period_ns() * found->waiting.size();
        for (size_t i = 0; i < found->waiting.size(); i++)
            tell(pid, found->waiting[i], std::move(spans->at(i)), static_cast<uint64_t>(each));
    }
    return reading_ns + read_clock(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

void TaskWaits::tell(pid_t pid, const WaitingTask& task, std::vector<CallKey> spans,
                     uint64_t weight_ns) {
    // It has begun since the task was seen.
    std::erase_if(spans, [&](const CallKey& span) { return span.start_ns > task.time_ns; });
    if (spans.empty() && !probes_.has_exchanges())
        return;
    const AwaitChain& chain = task.chain;
    const uint64_t coroutine = chain.tasks.front().task.coroutine;
    const auto process = static_cast<uint32_t>(pid);
    TaskSamples::Wait wait;
    wait.sample.time_ns = task.time_ns;
    wait.sample.weight_ns = weight_ns;
    wait.sample.kind = chain.is_ready ? SampleKind::runnable : SampleKind::blocked;
    wait.sample.calls = spans;
    wait.stack = names_.parked_stack(pid, task.time_ns, chain, sampling_.with_tasks());
    if (!events_.on_task_wait(process, coroutine, std::move(wait), probes_.has_exchanges()))
        lost_++;
}

} // namespace auger
