// SPDX-License-Identifier: GPL-3.0-or-later
// What a ledger counts from its beginning on, so that ledgers can be added up. Changes when a
// LedgerEvent counts something else.
#pragma once

#include "loader/stream/events.h"

#include <array>

namespace auger {

// But for `lost`.
constexpr auto ledger_totals() {
    return std::array{&LedgerEvent::ticks,
                      &LedgerEvent::samples,
                      &LedgerEvent::filtered,
                      &LedgerEvent::gated,
                      &LedgerEvent::on_cpu_ns,
                      &LedgerEvent::waits,
                      &LedgerEvent::wait_samples,
                      &LedgerEvent::gated_waits,
                      &LedgerEvent::gated_slow_calls,
                      &LedgerEvent::goroutine_switches};
}

inline void add_totals(LedgerEvent& ledger, const LedgerEvent& other) {
    for (const auto total : ledger_totals())
        ledger.*total += other.*total;
    for (const auto& [cause, events] : other.lost)
        ledger.lost[cause] += events;
}

// Takes out again what was added. Totals may be anybody's: what wrapped in the sum does so back.
inline void subtract_totals(LedgerEvent& ledger, const LedgerEvent& other) {
    for (const auto total : ledger_totals())
        ledger.*total -= other.*total;
    for (const auto& [cause, events] : other.lost)
        ledger.lost[cause] -= events;
}

} // namespace auger
