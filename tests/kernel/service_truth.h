// SPDX-License-Identifier: GPL-3.0-or-later
// The demo service's own record of its requests (--truth), by its own clock, which is the one that
// samples are timed with.
#pragma once

#include "loader/stats/threshold_follower.h"
#include "tests/kernel/stream_log.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
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

// In the order in which they end.
inline std::vector<Request> by_end(const Requests& all) {
    std::vector<Request> requests;
    for (const auto& [tid, of_thread] : all)
        requests.insert(requests.end(), of_thread.begin(), of_thread.end());
    std::ranges::sort(requests, {}, &Request::inside_end);
    return requests;
}

// What a percentile of the calls that have ended may be, where calls fade as ThresholdFollower has
// it. Which calls have ended may differ by one of each thread: its end is noted between the
// service's two readings of its clock. Likewise how long they took.
class FollowedPercentile {
  public:
    FollowedPercentile(double q, size_t threads, double tau_s)
        : q_(q), threads_(static_cast<double>(threads)), tau_ns_(tau_s * 1e9) {}
    void add(const Request& request) { // in the order of their ends
        if (inside_.empty())
            first_end_ = request.inside_end;
        weight_ = std::exp(static_cast<double>(request.inside_end - first_end_) / tau_ns_);
        total_ += weight_;
        insert(inside_, request.inside_ns());
        insert(outside_, request.outside_ns());
    }
    double least() const { return at(inside_, q_ * total_ - threads_ * weight_); }
    double most() const { return at(outside_, q_ * total_ + threads_ * weight_); }

  private:
    using Weighted = std::vector<std::pair<uint64_t, double>>; // by duration

    void insert(Weighted& calls, uint64_t duration) const {
        const std::pair call{duration, weight_};
        calls.insert(std::ranges::upper_bound(calls, call), call);
    }
    static double at(const Weighted& calls, double weight) {
        double sum = 0;
        for (const auto& [duration, of_call] : calls)
            if ((sum += of_call) >= weight)
                return static_cast<double>(duration);
        return static_cast<double>(calls.back().first);
    }

    double q_, threads_, tau_ns_, total_ = 0, weight_ = 0;
    uint64_t first_end_ = 0;
    Weighted inside_, outside_;
};

// What a percentile of the calls of a service may have been at each moment, as the kernel had it.
// Each event of statistics is put in force before the time is taken for the next one: so it is that
// of the last event but one, or of what came later.
class PercentileInForce {
  public:
    struct Bounds {
        double least, most;
    };

    PercentileInForce(const Requests& requests, double q, size_t needed, const StreamLog& log)
        : requests_(by_end(requests)), needed_(needed), log_(log) {
        FollowedPercentile followed(q, requests.size(), ThresholdFollower::default_tau_s);
        for (const Request& request : requests_) {
            followed.add(request);
            of_first_.push_back({followed.least(), followed.most()});
        }
    }
    const std::vector<Request>& requests() const { return requests_; } // as they ended
    size_t ended(uint64_t time) const {
        return static_cast<size_t>(
            std::ranges::upper_bound(requests_, time, {}, &Request::inside_end) -
            requests_.begin());
    }
    // None until so many calls have ended as it takes to know it. With which of the calls an event
    // was made that ended meanwhile, nobody knows.
    std::optional<Bounds> at(uint64_t time) const {
        const size_t until = ended(time);
        const auto told = std::ranges::upper_bound(log_.stats, time, {}, &StatsEvent::time_ns) -
                          log_.stats.begin();
        if (until < needed_)
            return {};
        size_t from = told < 2 ? 0 : ended(log_.stats[static_cast<size_t>(told) - 2].time_ns);
        from = std::max(needed_, from);
        Bounds bounds = of_first_[from - 1];
        for (size_t i = from; i < until; i++) {
            bounds.least = std::min(bounds.least, of_first_[i].least);
            bounds.most = std::max(bounds.most, of_first_[i].most);
        }
        return bounds;
    }
    Bounds last() const { return of_first_.back(); }

  private:
    std::vector<Request> requests_;
    std::vector<Bounds> of_first_; // n + 1 of them
    size_t needed_;
    const StreamLog& log_;
};

} // namespace auger::test
