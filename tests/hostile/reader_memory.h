// SPDX-License-Identifier: GPL-3.0-or-later
// ReaderMemory: the most that all processes together had that read files for an auger, looked at
// all the time while it lives.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace auger::test {

// Of auger: those that read, without the launcher.
std::vector<pid_t> readers_of(pid_t auger);

class ReaderMemory {
  public:
    explicit ReaderMemory(pid_t auger);
    ~ReaderMemory();
    ReaderMemory(const ReaderMemory&) = delete;
    ReaderMemory& operator=(const ReaderMemory&) = delete;

    uint64_t most() const { return most_; }   // bytes
    uint64_t looks() const { return looks_; } // at which there was a reader

  private:
    void watch(pid_t auger);

    std::atomic<uint64_t> most_{0}, looks_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_; // last: it uses the others
};

} // namespace auger::test
