// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/poll_loop.h"

#include "loader/kernel/clock.h"

#include <poll.h>

#include <algorithm>
#include <ctime>

namespace auger {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How often the ring is emptied and the counters are read while somebody waits.
constexpr nanoseconds ring_interval = milliseconds(20);
// How often is looked whether a table has come that records wait for.
constexpr nanoseconds table_interval = milliseconds(1);

} // namespace

void PollLoop::deliver_all() {
    // What was in the ring at the beginning, however fast it is filled meanwhile.
    for (size_t passes = 0; passes < EventRing::passes; passes++) {
        do {
            if (records_.waiting())
                unwind_.settle(table_interval);
            deliver(TimeSlice::endless());
        } while (records_.waiting());
        if (!records_.more())
            return;
    }
}

// Delivers some of what is there; returns how many records and changes that were.
size_t PollLoop::deliver(const TimeSlice& until) {
    size_t delivered = records_.deliver(until);
    if (members_.collect_command())
        delivered++;
    updates_.take_written_files();
    const uint64_t now = clock_ns();
    work_.update(now);
    task_waits_.update(now);
    if (auto error = recorders_.take_error())
        sink_.on_notice(clock_ns(), error->message());
    tell_time();
    return delivered;
}

// Up to when everything has been handed over: later records may be in the ring by now.
void PollLoop::tell_time() {
    if (const uint64_t heard_ns = records_.heard_ns(); heard_ns > told_ns_) {
        told_ns_ = heard_ns;
        sink_.on_time(heard_ns);
    }
}

void PollLoop::refresh() {
    deliver_all();
    work_.bring_up_to_date(clock_ns());
    tell_time();
}

bool PollLoop::poll(nanoseconds timeout, int wake_fd) {
    uint64_t deadline = clock_ns() + static_cast<uint64_t>(std::max<int64_t>(timeout.count(), 0));
    for (;;) {
        // The ring is emptied in steps, however often there is something in it; what is left of one
        // goes on at once.
        uint64_t until =
            records_.more() ? 0 : std::min({deadline, next_delivery_ns_, task_waits_.due_ns()});
        if (records_.waiting())
            until = std::min(deadline, clock_ns() + static_cast<uint64_t>(table_interval.count()));
        const bool woken = wait_until(until, wake_fd);
        const size_t delivered = deliver(TimeSlice(clock_ns, delivery_slice));
        next_delivery_ns_ = clock_ns() + static_cast<uint64_t>(ring_interval.count());
        // What the last process left behind must be delivered before the end is announced.
        if (target_.ended() && delivered == 0 && !records_.more()) {
            records_.end();
            refresh();
            return false;
        }
        if ((delivered && !records_.more()) || woken || clock_ns() >= deadline)
            return true;
    }
}

// True when `wake_fd` ended the wait. What processes do and a ring that fills up end it too.
bool PollLoop::wait_until(uint64_t time_ns, int wake_fd) const {
    const uint64_t now = std::min(clock_ns(), time_ns);
    std::array<pollfd, 6> waiting = {{{sources_[0], POLLIN, 0},
                                      {sources_[1], POLLIN, 0},
                                      {wake_fd, POLLIN, 0},
                                      {sources_[2], POLLIN, 0},
                                      {sources_[3], POLLIN, 0},
                                      {target_.ended() ? -1 : target_.command_pidfd(), POLLIN, 0}}};
    const timespec wait = {static_cast<time_t>((time_ns - now) / 1'000'000'000),
                           static_cast<long>((time_ns - now) % 1'000'000'000)};
    ppoll(waiting.data(), waiting.size(), &wait, nullptr);
    return waiting[2].revents != 0;
}

} // namespace auger
