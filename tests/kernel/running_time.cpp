// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/running_time.h"

#include "loader/process/proc_info.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace auger::test {

RunningTime::RunningTime(pid_t pid) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.inherit = 1;
    const auto threads = threads_of(pid);
    if (!threads)
        throw std::runtime_error("the program has no threads");
    for (const pid_t thread : *threads) {
        counters_.emplace_back(
            static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, -1, -1, 0)));
        if (counters_.back().get() < 0)
            throw std::runtime_error("perf_event_open of a thread of the program");
    }
}

double RunningTime::ns() const {
    double sum = 0;
    for (const UniqueFd& counter : counters_) {
        uint64_t ns = 0;
        if (read(counter.get(), &ns, sizeof ns) != sizeof ns)
            throw std::runtime_error("read of a perf counter");
        sum += static_cast<double>(ns);
    }
    return sum;
}

} // namespace auger::test
