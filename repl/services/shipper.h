// SPDX-License-Identifier: GPL-3.0-or-later
// Shipper: `ship PROTOCOL URL every SPAN`. Each interval's samples become a file in a spool, and go
// from there to a receiver, one after the other, by a process without power; as several files where
// they are more than a receiver takes at once. While it cannot be reached, or says that it has too
// much to do, they wait; what it refuses for good, and what the spool has no room for any more, is
// counted. An interval that the receiver has taken may
// be sent again if auger is killed before it has removed the file.
#pragma once

#include "loader/http/http_post.h"
#include "repl/services/attempts.h"
#include "repl/services/interval_writer.h"
#include "repl/services/service_settings.h"
#include "repl/services/spool.h"
#include "views/shipping_status.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

class Shipper {
  public:
    struct Clocks {
        std::function<uint64_t()> utc_ns;    // since 1970
        std::function<uint64_t()> steady_ns; // of this machine: that of a recording may stand still
    };
    // `certificates`: see ConfinedPoster.
    using MakePoster =
        std::function<Result<std::unique_ptr<HttpPoster>>(const std::string& certificates)>;

    Shipper(const Backend& backend, const Model& model, Clocks clocks, MakePoster make_poster);
    Shipper(const Shipper&) = delete;
    Shipper& operator=(const Shipper&) = delete;

    // From now on; without a protocol: no longer. What the interval so far holds goes to the spool.
    // Whole or not at all. The account begins anew.
    Result<void> set(const Shipping& shipping);
    bool active() const { return line_.has_value(); }
    Shipping shipping() const { return line_ ? line_->shipping : Shipping(); }

    void work();
    void add_wake_fds(std::vector<int>& fds) const;
    uint64_t due_ns() const; // of intervals, in the backend's time
    // Until something else is due.
    std::chrono::nanoseconds idle_time(std::chrono::nanoseconds longest) const;
    // Write the intervals so far, and send what waits, as far as it is taken within some seconds.
    static void finish(std::span<Shipper* const> shippers);
    void finish() {
        Shipper* const self = this;
        finish({&self, 1});
    }

    ShippingStatus status() const;
    // Where intervals wait; empty: nothing is shipped.
    std::string folder() const { return line_ ? line_->spool.folder() : std::string(); }
    // What happened since the last call, a line each.
    std::vector<std::string> take_news();
    // Whether nothing was lost.
    Result<void> outcome() const;

  private:
    struct Line { // to one receiver
        Shipping shipping;
        Spool spool;
        std::unique_ptr<HttpPoster> poster;
    };

    // There is more to send now, and it is taken.
    bool is_sending() const {
        return line_ && account_.problem.empty() &&
               (sending_ || attempts_.next(line_->spool.entries(), clocks_.steady_ns()));
    }
    Result<std::unique_ptr<HttpPoster>> connect(const Shipping& shipping) const;
    void begin(Line line);
    void close();
    void tell_what_waits();
    // What a forked copy does for an interval; its `out` is the files' names, a line each.
    ForkedTask::Work write(const IntervalWriter::Interval& interval);
    Result<void> write(const IntervalWriter::Interval& interval, Spool::Entry entry, int out) const;
    void take_written(UniqueFd out);
    void trim();
    void start_sending(const Spool::Entry& entry);
    void take_outcome();
    void take_shipped(const Spool::Entry& entry, const HttpOutcome& outcome);
    void wait_again(const HttpOutcome& outcome);
    // Whether it is given up.
    bool doubt(const Spool::Entry& entry, const HttpOutcome& outcome);
    void leave_spool(const Spool::Entry& entry);
    std::string service() const;
    void lose(uint64_t intervals, std::string why);
    void say_once(std::string text);

    const Backend& backend_;
    const Model& model_;
    const Clocks clocks_;
    const MakePoster make_poster_;
    IntervalWriter writer_;
    std::optional<Line> line_;
    std::optional<Spool::Entry> sending_;
    Attempts attempts_; // by clocks_.steady_ns
    ShippingStatus account_;
    uint64_t lost_ = 0; // intervals
    std::string first_loss_;
    std::string last_said_; // once, however often it happens in a row
    std::vector<std::string> news_;
};

} // namespace auger
