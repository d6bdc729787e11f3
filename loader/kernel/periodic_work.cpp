// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/periodic_work.h"

#include "loader/base/time_slice.h"
#include "loader/kernel/clock.h"

namespace auger {

namespace {

constexpr uint64_t statistics_interval_ns = 100'000'000;
constexpr uint64_t ledger_interval_ns = 500'000'000;

} // namespace

void PeriodicWork::update(uint64_t now_ns) {
    updates_.update(now_ns);
    if (now_ns >= next_statistics_ns_) {
        next_statistics_ns_ = now_ns + statistics_interval_ns;
        if (auto changed = priority_.update(now_ns, ledger_.lost_by_ring()))
            sink_.on_notice(clock_ns(), *changed);
        mappings_.look_for_ends();
        spans_.update(now_ns);
        statistics_.read(now_ns);
        names_.deliver(TimeSlice(clock_ns, delivery_slice));
    }
    const bool measured = overhead_.update(now_ns);
    if (measured) {
        const Overhead& overhead = overhead_.last();
        clocks_.judge(overhead);
        go_switches_.judge(overhead_.last_go_switches(), overhead.target_ns,
                           overhead.end_ns - overhead.begin_ns);
    }
    if (measured || now_ns >= next_ledger_ns_)
        report_ledger(now_ns);
}

void PeriodicWork::bring_up_to_date(uint64_t now_ns) {
    statistics_.read(now_ns);
    names_.deliver(TimeSlice::endless());
    report_ledger(now_ns);
}

void PeriodicWork::report_ledger(uint64_t now_ns) {
    next_ledger_ns_ = now_ns + ledger_interval_ns;
    members_.reconcile(ledger_.lost_births_and_ends());
    ledger_.report(now_ns);
}

} // namespace auger
