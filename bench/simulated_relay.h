// SPDX-License-Identifier: GPL-3.0-or-later
// SimulatedRelay: the services of several hosts as one stream, as a relay tells it: with ids in
// common, of whose hosts they are known, and folded.
#pragma once

#include "bench/simulated_service.h"
#include "loader/recording/machine_stream.h"
#include "loader/remote/sample_fold.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace auger::bench {

class SimulatedRelay {
  public:
    SimulatedRelay(EventSink& sink, uint32_t seed, size_t hosts, uint32_t cpus, uint64_t rate_hz,
                   uint64_t begin_ns)
        : fold_(sink), common_(hosts, CommonStream::Probes::by_number) {
        for (uint32_t i = 0; i < hosts; i++) {
            machines_.push_back(std::make_unique<MachineStream>(
                common_, i, MachineId{i}, MachineInfo{fmt::format("web{}", i), 1}, 0));
            machines_.back()->deliver_to(fold_);
            machines_.back()->tell_machine();
            services_.push_back(std::make_unique<SimulatedService>(
                *machines_.back(), seed * 1000 + i, cpus, rate_hz, begin_ns));
        }
    }
    void define(ProbeId probe) {
        common_.announce(probe, ProbeInfo{probe, "handle", {}, {}});
        for (const auto& service : services_)
            service->define(probe);
    }
    void run_until(uint64_t time_ns) {
        for (const auto& service : services_)
            service->work_until(time_ns);
        fold_.on_time(time_ns);
    }
    uint64_t taken_samples() const { return fold_.samples_in(); }
    uint64_t samples() const { return fold_.samples_out(); }

  private:
    remote::SampleFold fold_;
    CommonStream common_;
    std::vector<std::unique_ptr<MachineStream>> machines_;
    std::vector<std::unique_ptr<SimulatedService>> services_;
};

} // namespace auger::bench
