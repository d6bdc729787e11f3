// SPDX-License-Identifier: GPL-3.0-or-later
// Services: what goes on while nobody types. The session sets them as it sets the backend, and lets
// them work between events; each does little at a time.
#pragma once

#include "repl/services/endpoint.h"
#include "repl/services/interval_writer.h"
#include "repl/services/service_settings.h"
#include "repl/services/shared_sampling.h"
#include "repl/services/shippers.h"
#include "repl/services/triggers.h"

#include <chrono>
#include <string>
#include <vector>

namespace auger {

class Services {
  public:
    Services(Backend& backend, const Model& model, EndpointSource source);

    // Settings; each whole or not at all.
    Result<void> set_sampling(const SamplingSettings& settings) {
        return sampling_.set_user(settings);
    }
    const SamplingSettings& sampling_in_force() const { return sampling_.in_force(); }
    bool samples_for_clients() const { return sampling_.is_for_others(); }
    // Of what is sampled for clients alone; until the user samples.
    Result<void> limit_clients(const SamplingSettings& most) {
        return sampling_.limit_demand(most);
    }
    Result<void> serve(const std::vector<ServedAddress>& addresses) {
        return endpoint_.listen_at(addresses);
    }
    Result<void> record_intervals(const IntervalFiles& files);
    Result<void> ship(const std::vector<Shipping>& to) { return shippers_.set(to); }
    Result<void> set_triggers(const std::vector<Trigger>& triggers) {
        return triggers_.set(triggers);
    }

    // Whether there is something to go on for when nobody will type any more.
    bool active() const {
        return endpoint_.active() || intervals_.active() || records_intervals_ ||
               shippers_.active() || triggers_.active();
    }
    const Endpoint& endpoint() const { return endpoint_; }
    const IntervalWriter& intervals() const { return intervals_; }
    const Shippers& shippers() const { return shippers_; }

    // Does what is due; returns what there is to say, a line each.
    std::vector<std::string> work();
    // Writes what is still to be written; returns what there is to say.
    std::vector<std::string> finish();

    // Whether everything was written that was to be.
    Result<void> outcome() const;

    // How long nothing is due, at most `longest`.
    std::chrono::nanoseconds idle_time(std::chrono::nanoseconds longest) const;
    // A descriptor that is readable when `fd` is or when there is something to do; owned by this.
    int wake_fd(int fd);
    // Waits until then, at most `longest`, for when no event can come.
    void wait(std::chrono::nanoseconds longest, int fd);

  private:
    std::vector<std::string> news();
    Result<void> recordings_outcome() const;

    Backend& backend_;
    const Model& model_;
    SharedSampling sampling_;
    Endpoint endpoint_;
    IntervalWriter intervals_;       // of files
    bool records_intervals_ = false; // the backend does
    Shippers shippers_;
    Triggers triggers_;
    UniqueFd wake_; // an epoll descriptor
};

} // namespace auger
