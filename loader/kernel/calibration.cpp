// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/calibration.h"

#include "loader/kernel/bpf_calls.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <vector>

namespace auger {

namespace {

uint64_t clock_ns() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

constexpr uint64_t period_ns = 200'000;
constexpr uint64_t duration_ns = 30'000'000;
constexpr size_t enough_samples = 30;

} // namespace

uint64_t measure_sample_gap(Programs& programs, bool hardware) {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
    attributes.config =
        hardware ? uint64_t{PERF_COUNT_HW_CPU_CYCLES} : uint64_t{PERF_COUNT_SW_CPU_CLOCK};
    attributes.sample_period = period_ns; // cycles or ns: either way some hundred samples
    attributes.disabled = 1;
    auto event = open_perf_event(attributes, 0, -1, "calibration");
    if (!event ||
        ioctl(event->get(), PERF_EVENT_IOC_SET_BPF, programs.program_fd(ProgramKind::sampler)) < 0)
        return 0;

    std::vector<uint64_t> gaps;
    gaps.reserve(2'000'000);
    programs.config().calibration_tid = static_cast<uint32_t>(gettid());
    ioctl(event->get(), PERF_EVENT_IOC_ENABLE, 0);
    uint64_t begin = clock_ns();
    uint64_t before = begin;
    while (before - begin < duration_ns && gaps.size() < gaps.capacity()) {
        uint64_t now = clock_ns();
        gaps.push_back(now - before);
        before = now;
    }
    ioctl(event->get(), PERF_EVENT_IOC_DISABLE, 0);
    programs.config().calibration_tid = 0;

    uint64_t count = 0;
    if (read(event->get(), &count, sizeof(count)) != sizeof(count))
        return 0;
    // The samples are the largest gaps, apart from interrupts and neighbours that took the CPU,
    // which make gaps longer and never shorter: so a lower quartile, not the median. Too much taken
    // out of durations would be worse than too little.
    size_t samples = count / period_ns;
    if (samples < enough_samples || samples > gaps.size())
        return 0;
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<ptrdiff_t>(samples), gaps.end(),
                     std::greater<>());
    auto quartile = gaps.begin() + static_cast<ptrdiff_t>(samples * 3 / 4);
    std::nth_element(gaps.begin(), quartile, gaps.begin() + static_cast<ptrdiff_t>(samples),
                     std::greater<>());
    return *quartile;
}

} // namespace auger
