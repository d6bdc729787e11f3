// SPDX-License-Identifier: GPL-3.0-or-later
// Shippers: one to each receiver, none of which waits for another.
#pragma once

#include "repl/services/shipper.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace auger {

class Shippers {
  public:
    // As of a Shipper.
    Shippers(const Backend& backend, const Model& model, Shipper::Clocks clocks,
             Shipper::MakePoster make_poster)
        : backend_(backend), model_(model), clocks_(std::move(clocks)),
          make_poster_(std::move(make_poster)) {}

    // To these from now on, of which no two are the same receiver. Whole or not at all. Those that
    // are as before go on.
    Result<void> set(const std::vector<Shipping>& wanted);
    bool active() const;

    void work();
    void add_wake_fds(std::vector<int>& fds) const;
    uint64_t due_ns() const;
    std::chrono::nanoseconds idle_time(std::chrono::nanoseconds longest) const;
    void finish();

    // Of each receiver, in the order of `wanted`; of one.
    std::vector<ShippingStatus> status() const;
    ShippingStatus status(const Shipping& receiver) const;
    // Where its intervals wait; empty: nothing is shipped there.
    std::string folder(const Shipping& receiver) const;
    std::vector<std::string> take_news();
    Result<void> outcome() const;

  private:
    // Null: nothing is shipped there.
    Shipper* find(const Shipping& receiver) const;
    // One that ships nothing.
    Shipper& idle_one();

    const Backend& backend_;
    const Model& model_;
    const Shipper::Clocks clocks_;
    const Shipper::MakePoster make_poster_;
    std::vector<Shipping> wanted_;
    std::vector<std::unique_ptr<Shipper>> shippers_; // also those that have ended, to be used again
};

} // namespace auger
