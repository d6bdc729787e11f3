// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/calibration.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/clock.h"

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <utility>
#include <vector>

namespace auger {

namespace {

// Of ticks: the rarer they are, the colder are the caches that they find.
constexpr uint64_t shortest_period_ns = 100'000, longest_period_ns = 1'000'000;
constexpr uint64_t duration_ns = 30'000'000;
constexpr size_t enough_ticks = 20;
// A step longer than this is looked at. One without a tick takes some nanoseconds.
constexpr uint64_t long_step_ns = 500;

// The processor's own count, which needs nothing that a tick could have put out of a cache.
uint64_t counter() {
    return __builtin_ia32_rdtsc();
}

double ns_per_count() {
    const uint64_t begin_ns = clock_ns(), begin = counter();
    uint64_t now_ns = begin_ns;
    while (now_ns - begin_ns < 1'000'000)
        now_ns = clock_ns();
    return static_cast<double>(now_ns - begin_ns) / static_cast<double>(counter() - begin);
}

// How often this thread was taken off its CPU.
long switches() {
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

} // namespace

uint64_t measure_sample_entry(Programs& programs, bool hardware, uint32_t rate_hz) {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
    attributes.config =
        hardware ? uint64_t{PERF_COUNT_HW_CPU_CYCLES} : uint64_t{PERF_COUNT_SW_CPU_CLOCK};
    // Cycles or ns: either way some ticks.
    attributes.sample_period =
        std::clamp<uint64_t>(1'000'000'000 / rate_hz, shortest_period_ns, longest_period_ns);
    attributes.disabled = 1;
    auto event = open_perf_event(attributes, 0, -1, "calibration");
    if (!event ||
        ioctl(event->get(), PERF_EVENT_IOC_SET_BPF, programs.program_fd(ProgramKind::sampler)) < 0)
        return 0;

    const double scale = ns_per_count();
    const auto long_step = static_cast<uint64_t>(static_cast<double>(long_step_ns) / scale);
    const auto duration = static_cast<uint64_t>(static_cast<double>(duration_ns) / scale);
    std::vector<uint64_t> costs;
    programs.config().calibration_tid = static_cast<uint32_t>(gettid());
    uint64_t ticks = programs.calibration().ticks;
    ioctl(event->get(), PERF_EVENT_IOC_ENABLE, 0);
    long switched = switches();
    const uint64_t begin = counter();
    uint64_t last = begin;
    while (last - begin < (costs.size() < enough_ticks ? 10 : 1) * duration) {
        const uint64_t now = counter();
        const uint64_t step = now - last;
        last = now;
        if (step < long_step)
            continue;
        const wire_calibration told = programs.calibration();
        const auto step_ns = static_cast<uint64_t>(static_cast<double>(step) * scale);
        // On a machine with more to do than it can, others often run when a tick has ended: their
        // time is not the tick's.
        const long before = std::exchange(switched, switches());
        const bool ran_on = switched == before;
        if (ran_on && told.ticks == ticks + 1 && step_ns > told.own_ns)
            costs.push_back(step_ns - told.own_ns);
        ticks = told.ticks;
        last = counter();
    }
    ioctl(event->get(), PERF_EVENT_IOC_DISABLE, 0);
    programs.config().calibration_tid = 0;

    if (costs.size() < enough_ticks)
        return 0;
    // Other interrupts, and neighbours that take the CPU, fall into few of the steps: the longest.
    std::ranges::sort(costs);
    costs.resize(costs.size() - costs.size() / 20);
    return std::accumulate(costs.begin(), costs.end(), uint64_t{0}) / costs.size();
}

} // namespace auger
