// SPDX-License-Identifier: GPL-3.0-or-later
//
// The load: clients in a closed loop with time to think, and the calibration that makes requests
// cost about the same on any machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

// How much work makes how much time on this machine.
struct Calibration {
    double row_ns = 0;          // one row of a statement, from rendering to checksum
    uint32_t index_entries = 0; // makes a rebuild of the index cost several milliseconds

    // Does some of the service's own work and takes its best times.
    static Calibration measure();
};

struct LoadOptions {
    unsigned clients = 4;
    double rate = 500;     // requests a second, of all clients together
    uint64_t requests = 0; // of all clients together; 0 is no limit
    uint64_t seed = 1;
    double cpu_share = 0.03; // of requests that need a rebuild of the index
};

// Runs clients from its making until `wait` returns.
class Load {
  public:
    Load(const LoadOptions& options, const Calibration& calibration, uint16_t port);
    // Returns when the requests are done, the time is over, or a signal came.
    void wait();

  private:
    void run_client(unsigned index, uint16_t port);

    LoadOptions options_;
    Calibration calibration_;
    std::atomic<uint64_t> taken_ = 0;
    std::atomic<uint32_t> version_ = 1;
    std::vector<std::jthread> clients_;
};
