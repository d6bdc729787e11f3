// SPDX-License-Identifier: GPL-3.0-or-later
// The demo service's own record of its requests (--truth), by its own clock, which is the one that
// samples are timed with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace auger::test {

struct Request {
    uint64_t start, end;               // around the call
    uint64_t inside_start, inside_end; // from its first to its last statement
    std::string kind;
    uint64_t outside_ns() const { return end - start; }
    uint64_t inside_ns() const { return inside_end - inside_start; }
};

// By thread, in order of start.
using Requests = std::map<uint32_t, std::vector<Request>>;

inline Requests read_requests(const std::string& path) {
    Requests requests;
    std::ifstream file(path);
    Request request;
    uint32_t tid = 0;
    while (file >> request.start >> request.end >> tid >> request.kind >> request.inside_start >>
           request.inside_end)
        requests[tid].push_back(request);
    return requests;
}

// Where a moment of a thread is.
struct Moment {
    enum class Place {
        inside,  // of `request`, surely
        between, // of two, or before the first, or behind the last, or of a thread that has none
        edge,    // within the few instructions in which one begins or ends
    };
    Place place;
    const Request* request = nullptr;
};

inline Moment moment_of(const Requests& requests, uint32_t tid, uint64_t time) {
    // The kernel's clock for samples is not serialised with adjustments of the one that programs
    // read: it may be off by the adjustment of one tick, far below this.
    constexpr uint64_t clocks_ns = 1'000;
    const auto of = requests.find(tid);
    if (of == requests.end())
        return {Moment::Place::between};
    const auto after = std::upper_bound(of->second.begin(), of->second.end(), time + clocks_ns,
                                        [](uint64_t t, const Request& r) { return t < r.start; });
    if (after == of->second.begin())
        return {Moment::Place::between};
    const Request& last = *std::prev(after);
    if (time > last.end + clocks_ns)
        return {Moment::Place::between};
    const bool inside = time > last.inside_start + clocks_ns && time + clocks_ns < last.inside_end;
    return {inside ? Moment::Place::inside : Moment::Place::edge, &last};
}

inline uint64_t nearest_rank(std::vector<uint64_t> values, double q) {
    std::sort(values.begin(), values.end());
    auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
    return values.at(std::max<size_t>(rank, 1) - 1);
}

inline std::vector<uint64_t> durations_of(const Requests& all, uint64_t (Request::*of)() const) {
    std::vector<uint64_t> durations;
    for (const auto& [tid, requests] : all)
        for (const Request& request : requests)
            durations.push_back((request.*of)());
    return durations;
}

} // namespace auger::test
