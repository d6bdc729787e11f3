// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/calibration.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/calibration_guard.h"
#include "loader/kernel/clock.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>
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

// A set of as many CPUs as there are, also above CPU_SETSIZE.
class CpuSet {
  public:
    explicit CpuSet(uint32_t cpus) : bytes_(CPU_ALLOC_SIZE(cpus)), set_(CPU_ALLOC(cpus)) {
        CPU_ZERO_S(bytes_, set_.get());
    }
    bool read() { return sched_getaffinity(0, bytes_, set_.get()) == 0; }
    bool apply() const { return sched_setaffinity(0, bytes_, set_.get()) == 0; }
    bool has(uint32_t cpu) const { return CPU_ISSET_S(cpu, bytes_, set_.get()); }
    void add(uint32_t cpu) { CPU_SET_S(cpu, bytes_, set_.get()); }

  private:
    struct Free {
        void operator()(cpu_set_t* set) const { CPU_FREE(set); }
    };
    size_t bytes_;
    std::unique_ptr<cpu_set_t, Free> set_;
};

// Of the CPU that the thread stays on; 0: too few ticks came to tell.
uint64_t measure(int program, const perf_event_attr& attributes, const wire_tick_cost& counted) {
    const volatile wire_tick_cost& told = counted; // written by the sampler meanwhile
    auto event = open_perf_event(attributes, 0, -1, "calibration");
    if (!event || ioctl(event->get(), PERF_EVENT_IOC_SET_BPF, program) < 0)
        return 0;

    const double scale = ns_per_count();
    const auto long_step = static_cast<uint64_t>(static_cast<double>(long_step_ns) / scale);
    const auto duration = static_cast<uint64_t>(static_cast<double>(duration_ns) / scale);
    std::vector<uint64_t> costs;
    uint64_t ticks = told.ticks;
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
        const uint64_t now_ticks = told.ticks, own_ns = told.own_ns;
        const auto step_ns = static_cast<uint64_t>(static_cast<double>(step) * scale);
        // On a machine with more to do than it can, others often run when a tick has ended: their
        // time is not the tick's.
        const long before = std::exchange(switched, switches());
        const bool ran_on = switched == before;
        if (ran_on && now_ticks == ticks + 1 && step_ns > own_ns)
            costs.push_back(step_ns - own_ns);
        ticks = now_ticks;
        last = counter();
    }
    ioctl(event->get(), PERF_EVENT_IOC_DISABLE, 0);

    if (costs.size() < enough_ticks)
        return 0;
    // Other interrupts, and neighbours that take the CPU, fall into few of the steps: the longest.
    std::ranges::sort(costs);
    costs.resize(costs.size() - costs.size() / 20);
    return std::accumulate(costs.begin(), costs.end(), uint64_t{0}) / costs.size();
}

// The mean of those that are not 0, or 0.
uint64_t mean_of_known(const std::vector<uint64_t>& values) {
    const auto known = std::ranges::count_if(values, [](uint64_t value) { return value != 0; });
    return known ? std::accumulate(values.begin(), values.end(), uint64_t{0}) /
                       static_cast<uint64_t>(known)
                 : 0;
}

} // namespace

void calibrate_ticks(Programs& programs, bool hardware, uint32_t rate_hz) {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
    attributes.config =
        hardware ? uint64_t{PERF_COUNT_HW_CPU_CYCLES} : uint64_t{PERF_COUNT_SW_CPU_CLOCK};
    // Cycles or ns: either way some ticks.
    attributes.sample_period =
        std::clamp<uint64_t>(1'000'000'000 / rate_hz, shortest_period_ns, longest_period_ns);
    attributes.disabled = 1;

    const uint32_t cpus = programs.cpu_ids();
    CpuSet allowed(cpus);
    if (!allowed.read())
        return;
    const auto program = programs.program(ProgramKind::sampler);
    if (!program)
        return;
    wire_tick_cost* const told = programs.tick_costs();
    std::vector<uint64_t> entry_ns(cpus);
    {
        const CalibrationGuard calibrating(programs, WIRE_CALIBRATE_SAMPLES);
        std::vector<std::jthread> threads;
        try {
            for (uint32_t cpu = 0; cpu < cpus; cpu++)
                if (allowed.has(cpu))
                    threads.emplace_back([&, cpu] {
                        CpuSet alone(cpus);
                        alone.add(cpu);
                        if (alone.apply())
                            entry_ns[cpu] = measure(*program, attributes, told[cpu]);
                    });
        } catch (const std::system_error&) {
            // Those of the other CPUs stand for the rest.
        }
    }
    const uint64_t mean = mean_of_known(entry_ns);
    if (!mean)
        return;
    for (uint32_t cpu = 0; cpu < cpus; cpu++)
        __atomic_store_n(&told[cpu].entry_ns, entry_ns[cpu] ? entry_ns[cpu] : mean,
                         __ATOMIC_RELAXED);
}

uint64_t calibrated_tick_ns(const Programs& programs) {
    std::vector<uint64_t> costs;
    for (uint32_t cpu = 0; cpu < programs.cpu_ids(); cpu++) {
        const wire_tick_cost& cost = programs.tick_costs()[cpu];
        if (cost.ticks)
            costs.push_back(cost.entry_ns + cost.own_ns);
    }
    return mean_of_known(costs);
}

} // namespace auger
