// SPDX-License-Identifier: GPL-3.0-or-later
//
// The audit log that all workers share. A thread of its own puts the entries away now and then, and
// holds the log's lock meanwhile: a few requests have to wait for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

class AuditLog {
  public:
    AuditLog();

    // Returns how long the caller had to wait for the lock, in ns; 0 when it was free.
    uint64_t note(uint32_t account, uint32_t rows);

  private:
    struct Entry {
        uint32_t account;
        uint32_t rows;
    };
    void put_away(std::stop_token ended);

    std::mutex lock_;
    std::vector<Entry> entries_;
    std::condition_variable_any pause_;
    std::jthread keeper_; // named `audit`; the last member: it ends first
};
