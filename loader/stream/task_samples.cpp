// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/stream/task_samples.h"

#include <algorithm>
#include <iterator>

namespace auger {
namespace {

constexpr uint64_t drop_interval_ns = 1'000'000'000;

size_t bytes_of(const TaskSamples::Wait& wait) {
    size_t bytes = sizeof wait + wait.stack.locations.size() * sizeof(LocationId);
    for (const TaskSamples::WaitStack::Task& task : wait.stack.tasks)
        bytes += sizeof task + task.function.size() + task.name.size();
    return bytes;
}

} // namespace

TaskSamples::Call TaskSamples::name_of(const CallKey& call, ThreadId thread) {
    return {call.start_ns, call.sequence, static_cast<uint32_t>(call.spec.index()),
            call.of_no_thread() ? 0 : static_cast<uint32_t>(thread.index())};
}

void TaskSamples::keep(Task task, Kept kept) {
    if (kept_ == most)
        let_samples_go(UINT64_MAX);
    for (const CallKey& call : kept.calls)
        calls_[name_of(call, kept.sample.thread)].samples++;
    kept.sample.calls = {};
    of_tasks_[task].push_back(std::move(kept));
    kept_++;
}

void TaskSamples::keep(uint32_t pid, uint64_t task, const SampleEvent& sample) {
    keep({pid, task}, {sample, {sample.calls.begin(), sample.calls.end()}});
}

bool TaskSamples::keep_wait(uint32_t pid, uint64_t task, Wait wait) {
    if (!wait.sample.calls.empty()) {
        const std::vector<CallKey> calls(wait.sample.calls.begin(), wait.sample.calls.end());
        keep({pid, task}, {wait.sample, calls, std::move(wait.stack)});
        return true;
    }
    if (!enter(pid, wait))
        return false;
    waits_[{pid, task}].push_back(std::move(wait));
    return true;
}

bool TaskSamples::enter(uint32_t pid, const Wait& wait) {
    const size_t bytes = bytes_of(wait);
    const auto of_process = waits_of_.find(pid);
    if (room_.waits == most || room_.bytes + bytes > most_wait_bytes ||
        (of_process != waits_of_.end() && of_process->second == most / 2))
        return false;
    room_.waits++;
    room_.bytes += bytes;
    waits_of_[pid]++;
    return true;
}

void TaskSamples::forget(uint32_t pid, const Wait& wait) {
    room_.waits--;
    room_.bytes -= bytes_of(wait);
    const auto of_process = waits_of_.find(pid);
    if (--of_process->second == 0)
        waits_of_.erase(of_process);
}

void TaskSamples::hand_on_wait(uint32_t pid, Wait wait) {
    if (!complete_(pid, wait)) {
        waits_unwanted_++;
        return;
    }
    waits_told_++;
    sink_.on_sample(wait.sample);
}

void TaskSamples::hand_on_waits(Task task, uint64_t sent_ns, std::span<const Exchange> exchanges) {
    const auto found = waits_.find(task);
    if (found == waits_.end())
        return;
    // What comes behind may be told before: another thread has seen it.
    std::deque<Wait> waits;
    for (std::deque<Wait>& all = found->second;
         !all.empty() && all.front().sample.time_ns <= sent_ns; all.pop_front()) {
        forget(task.first, all.front());
        waits.push_back(std::move(all.front()));
    }
    if (found->second.empty())
        waits_.erase(found);
    for (Wait& wait : waits) {
        std::vector<CallKey> calls;
        for (const Exchange& exchange : exchanges)
            if (wait.sample.time_ns >= exchange.received_ns)
                calls.push_back(exchange.call);
        wait.sample.calls = calls;
        if (!calls.empty())
            hand_on_wait(task.first, std::move(wait));
    }
}

void TaskSamples::drop_waits(uint64_t before_ns) {
    for (auto task = waits_.begin(); task != waits_.end();) {
        std::deque<Wait>& waits = task->second;
        while (!waits.empty() && waits.front().sample.time_ns < before_ns) {
            forget(task->first.first, waits.front());
            waits.pop_front();
        }
        task = waits.empty() ? waits_.erase(task) : std::next(task);
    }
}

void TaskSamples::on_send(uint32_t pid, uint64_t task, uint64_t sent_ns,
                          std::span<const Exchange> exchanges) {
    hand_on_waits({pid, task}, sent_ns, exchanges);
    const auto found = of_tasks_.find({pid, task});
    if (found == of_tasks_.end())
        return;
    std::vector<Kept> samples = std::move(found->second);
    of_tasks_.erase(found);
    hand_on({pid, task}, samples, sent_ns, exchanges);
}

void TaskSamples::on_call_end(const CallEndEvent& end) {
    const auto found = calls_.find(name_of(end.call, end.thread));
    if (found == calls_.end())
        sink_.on_call_end(end);
    else
        found->second.end = end;
}

void TaskSamples::let_go(uint64_t now_ns) {
    let_samples_go(now_ns);
    // There may be many, and they may stay a little longer.
    if (now_ns < next_drop_ns_ || now_ns < wait_patience_ns)
        return;
    next_drop_ns_ = now_ns + drop_interval_ns;
    drop_waits(now_ns - wait_patience_ns);
}

void TaskSamples::let_samples_go(uint64_t now_ns) {
    for (auto task = of_tasks_.begin(); task != of_tasks_.end();) {
        if (task->second.front().sample.time_ns + patience_ns > now_ns) {
            ++task;
            continue;
        }
        const Task whose = task->first;
        std::vector<Kept> samples = std::move(task->second);
        task = of_tasks_.erase(task);
        hand_on(whose, samples, 0, {});
    }
}

void TaskSamples::let_all_go() {
    let_go(UINT64_MAX);
}

bool TaskSamples::keeps_any_before(uint64_t time_ns) const {
    return std::ranges::any_of(of_tasks_, [time_ns](const auto& task) {
        return task.second.front().sample.time_ns < time_ns;
    });
}

void TaskSamples::hand_on(Task task, std::vector<Kept>& samples, uint64_t sent_ns,
                          std::span<const Exchange> exchanges) {
    kept_ -= samples.size();
    for (Kept& kept : samples) {
        std::vector<CallKey> calls;
        for (const Exchange& exchange : exchanges) {
            if (kept.sample.time_ns >= exchange.received_ns && kept.sample.time_ns <= sent_ns)
                calls.push_back(exchange.call);
        }
        for (const CallKey& call : kept.calls) {
            if (std::ranges::none_of(exchanges, [&](const Exchange& exchange) {
                    return exchange.call.spec == call.spec;
                }))
                calls.push_back(call);
        }
        kept.sample.calls = calls;
        if (kept.wait)
            hand_on_wait(task.first, {kept.sample, std::move(*kept.wait)});
        else
            sink_.on_sample(kept.sample);
    }
    for (const Kept& kept : samples)
        for (const CallKey& call : kept.calls)
            leave(call, kept.sample.thread);
}

void TaskSamples::leave(const CallKey& call, ThreadId thread) {
    const auto found = calls_.find(name_of(call, thread));
    if (found == calls_.end() || --found->second.samples != 0)
        return;
    const std::optional<CallEndEvent> end = found->second.end;
    calls_.erase(found);
    if (end)
        sink_.on_call_end(*end);
}

} // namespace auger
