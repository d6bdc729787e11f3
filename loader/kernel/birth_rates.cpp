// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/birth_rates.h"

#include "loader/kernel/clock.h"

namespace auger {

void BirthRates::begin_anew() {
    process_births_ = births_ = ends_ = {};
    threads_are_short_lived_ = false;
}

bool BirthRates::on_process_birth(uint64_t time_ns) {
    process_births_.add(time_ns);
    return process_births_.often(time_ns);
}

// Others come while many go: a program that starts all its threads at once, as servers do, has no
// short-lived ones.
void BirthRates::on_thread_birth(uint64_t time_ns) {
    births_.add(time_ns);
    if (threads_are_short_lived_ || !births_.often(time_ns) || !ends_.often(time_ns))
        return;
    threads_are_short_lived_ = true;
    sample_cpus("the target starts and ends threads often");
}

void BirthRates::count_threads() {
    if (sampling_.wants_cpus())
        sample_cpus("the target has many threads");
}

void BirthRates::sample_cpus(const std::string& why) {
    auto set = sampling_.sample_cpus();
    sink_.on_notice(clock_ns(), set ? why + ": sampling by CPU from now on, keeping the target's "
                                            "samples, so that short-lived threads are not missed"
                                    : set.error().message());
}

} // namespace auger
