// SPDX-License-Identifier: GPL-3.0-or-later
//
// See audit.h.
#include "demo/audit.h"

#include "common/truth.h"

#include <chrono>

namespace {

constexpr auto between_writes = std::chrono::milliseconds(300);
constexpr uint64_t writing_us = 6'000;

} // namespace

AuditLog::AuditLog() : keeper_([this](std::stop_token ended) { put_away(ended); }) {}

// How long it took is told apart from a lock that was free at once.
TIMED static uint64_t lock_audit(std::mutex& lock) {
    if (lock.try_lock())
        return 0;
    const uint64_t start = truth_now();
    lock.lock(); // LOCK audit
    return truth_now() - start;
}

TIMED uint64_t AuditLog::note(uint32_t account, uint32_t rows) {
    const uint64_t waited = lock_audit(lock_);
    const std::lock_guard guard(lock_, std::adopt_lock);
    entries_.push_back({account, rows});
    return waited;
}

void AuditLog::put_away(std::stop_token ended) {
    truth_name_thread("audit");
    std::mutex own;
    std::unique_lock waiting(own);
    while (
        !pause_.wait_for(waiting, ended, between_writes, [&] { return ended.stop_requested(); })) {
        const std::lock_guard guard(lock_);
        truth_sleep_us(writing_us); // as if to a disk
        entries_.clear();
    }
}
