// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/sampling.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/process/proc_info.h"

#include <sys/ioctl.h>

#include <fmt/format.h>

namespace auger {

perf_event_attr clock_attributes(uint32_t rate_hz, bool hardware, bool inherit, bool started) {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.disabled = !started;
    if (hardware) {
        attributes.type = PERF_TYPE_HARDWARE;
        attributes.config = PERF_COUNT_HW_CPU_CYCLES;
        attributes.freq = 1;
        attributes.sample_freq = rate_hz;
    } else {
        // By period, so that a sample's weight is exactly the time since the one before it.
        attributes.type = PERF_TYPE_SOFTWARE;
        attributes.config = PERF_COUNT_SW_CPU_CLOCK;
        attributes.sample_period = 1'000'000'000 / rate_hz;
    }
    attributes.inherit = inherit;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING;
    return attributes;
}

Result<void> Sampling::add(pid_t tid, int cpu) {
    const std::string subject = cpu < 0 ? fmt::format("sampling of thread {}", tid)
                                        : fmt::format("sampling of CPU {}", cpu);
    auto event = open_perf_event(clock_attributes(rate_hz_, hardware_, cpu < 0, started_), tid, cpu,
                                 subject);
    if (!event)
        return event.error();
    if (auto set = set_event_program(event->get(), program_fd_, subject); !set)
        return set;
    events_.push_back(std::move(*event));
    return {};
}

Result<Sampling> Sampling::per_cpu(const Programs& programs, uint32_t rate_hz, bool hardware) {
    const auto program = programs.program(ProgramKind::sampler);
    if (!program)
        return program.error();
    Sampling sampling(*program, rate_hz, hardware);
    for (int cpu = 0; cpu < static_cast<int>(programs.cpu_ids()); cpu++) {
        // A CPU that is offline has no event; the others are sampled.
        if (auto added = sampling.add(-1, cpu); !added && errno != ENODEV)
            return added.error();
    }
    return sampling;
}

Result<Sampling> Sampling::per_process(const Programs& programs, uint32_t rate_hz, bool hardware,
                                       std::span<const pid_t> pids) {
    const auto program = programs.program(ProgramKind::sampler);
    if (!program)
        return program.error();
    Sampling sampling(*program, rate_hz, hardware);
    for (pid_t pid : pids) {
        if (auto added = sampling.add_process(pid); !added)
            return added.error();
    }
    return sampling;
}

Result<void> Sampling::add_process(pid_t pid) {
    auto threads = threads_of(pid);
    if (!threads)
        return {};
    // A thread that is born from now on inherits its parent's event. One that is born of a thread
    // which the loop has not reached yet (some 20 us a thread) has none to inherit and is not
    // sampled.
    for (pid_t tid : *threads) {
        if (auto added = add(tid, -1); !added && errno != ESRCH)
            return added.error();
    }
    return {};
}

void Sampling::start() {
    started_ = true;
    for (const UniqueFd& event : events_)
        ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0);
}

uint64_t Sampling::running_ns() const {
    struct {
        uint64_t value;
        uint64_t time_running;
    } reading = {};
    uint64_t sum = 0;
    for (const UniqueFd& event : events_) {
        if (read(event.get(), &reading, sizeof(reading)) == sizeof(reading))
            sum += reading.time_running;
    }
    return sum;
}

void Sampling::stop() {
    for (const UniqueFd& event : events_)
        ioctl(event.get(), PERF_EVENT_IOC_DISABLE, 0);
}

} // namespace auger
