// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/probe_updates.h"

#include "loader/kernel/clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

// How often is tried again to probe a file that somebody writes to.
constexpr uint64_t writer_interval_ns = 200'000'000;

} // namespace

void ProbeUpdates::on_target(uint64_t now_ns) {
    // Whom nobody observes any more must not pay for probes.
    probes_.leave_others(view_.get());
    marks_.leave_others(view_.get());
    probes_.update(view_.get(), now_ns);
    (void)probes_.take_executed_before(); // of the former one
    marks_.update(view_.get(), now_ns);
}

void ProbeUpdates::expire() {
    view_.expire();
    are_old_ = true;
}

void ProbeUpdates::take_written_files() {
    for (const auto& file : guard_.take_changed())
        on_written_file(*file);
}

// Its probes are off already, and the writer goes on.
void ProbeUpdates::on_written_file(const ProbedFile& file) {
    statistics_.read(clock_ns());
    probes_.forget_withdrawn();
    marks_.forget_withdrawn();
    expire();
    sink_.on_notice(clock_ns(),
                    fmt::format("{}: was opened for writing, so its probes are off; what it holds "
                                "then is probed when a process maps it, and calls until then are "
                                "not counted",
                                file.path()));
}

void ProbeUpdates::update(uint64_t now_ns) {
    if (readers_.take_answers())
        expire();
    const uint64_t after = probes_.look_again_ns();
    if (!after)
        look_again_ns_ = 0;
    else if (!look_again_ns_)
        look_again_ns_ = now_ns + after;
    if (look_again_ns_ && now_ns >= look_again_ns_)
        are_old_ = true;
    if (!are_old_ || now_ns < next_update_ns_)
        return;
    are_old_ = false;
    look_again_ns_ = 0;
    if (probes_.empty() && marks_.empty())
        return;
    const WaitingForCode waiting(readers_, AnswerTime::of_loop());
    const uint64_t refused = guard_.refused();
    const bool per_process = probes_.per_process();
    probes_.update(view_.get(), now_ns);
    const auto executed_before = probes_.take_executed_before();
    late_ += executed_before.value_or(0);
    // Records of births before that are still to be read.
    if (executed_before || (per_process && !probes_.per_process()))
        in_force_since_ns_ = clock_ns();
    marks_.update(view_.get(), now_ns);
    if (guard_.refused() != refused) {
        expire();
        next_update_ns_ = now_ns + writer_interval_ns;
    }
    // Of a whole machine some process always maps something: reading them all must not take more
    // than a small share of our time. Fewer processes may take half of it, since return probes may
    // have to go.
    const uint64_t share = view_.latest().everything ? 20 : 2;
    next_update_ns_ = std::max(next_update_ns_, now_ns + share * (clock_ns() - now_ns));
}

void ProbeUpdates::forget_process(pid_t pid) {
    probes_.forget_process(pid);
    marks_.forget_process(pid);
}

bool ProbeUpdates::is_late(uint64_t birth_ns) const {
    return probes_.per_process() || birth_ns < in_force_since_ns_;
}

void ProbeUpdates::on_birth(uint64_t time_ns) {
    late_ += is_late(time_ns);
}

// Those that are late already are not counted twice.
void ProbeUpdates::on_execution(uint64_t time_ns) {
    if (!is_late(time_ns))
        probes_.note_execution();
}

} // namespace auger
