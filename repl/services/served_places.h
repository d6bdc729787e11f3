// SPDX-License-Identifier: GPL-3.0-or-later
// ServedPlaces: all addresses that the endpoint listens at, as `serve` sets them.
#pragma once

#include "repl/services/served_place.h"

#include <functional>
#include <list>
#include <string>
#include <vector>

namespace auger {

class ServedPlaces {
  public:
    // Listens at these addresses, and no others; whole or not at all. "{PID}" in one is `pid`;
    // `closing` is told of each server that ends.
    Result<void> set(const std::vector<ServedAddress>& addresses, pid_t pid,
                     const std::function<void(const HttpServer&)>& closing);
    // Of one of the addresses, or of all.
    std::vector<std::string> urls(const std::string& address) const;

    bool empty() const { return places_.empty(); }
    auto begin() const { return places_.begin(); }
    auto end() const { return places_.end(); }

    // Whether there has been any.
    bool served() const { return served_; }
    // Of all that there are and have been.
    HttpCounts counts() const;
    // Whether anybody is told of events; and the next one.
    bool watched() const;
    void publish(const std::string& event) const;

  private:
    std::list<ServedPlace> places_;
    HttpCounts closed_counts_; // of places that are listened at no more
    bool served_ = false;
};

} // namespace auger
