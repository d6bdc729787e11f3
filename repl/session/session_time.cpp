// SPDX-License-Identifier: GPL-3.0-or-later
// How a session lets time pass: events, services, and the end of targets that end by themselves.
// The clock is the observed machine's, so a recording waits in its own time.
#include "repl/session/session.h"

#include "loader/base/guarded.h"

#include <algorithm>

namespace auger {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds longest_step{100}; // between looks at signals

Error interrupted() {
    return {"", "", "interrupted", "", Error::Kind::failed};
}

} // namespace

void Session::tend() {
    wall_clock_.follow(model_, backend_);
    const auto work = [this]() -> Result<std::vector<std::string>> { return services_.work(); };
    const auto news = guarded(work);
    for (const std::string& line : news ? *news : std::vector{news.error().message()})
        printer_.notice(backend_.now_ns(), line);
    if (overhead_.work())
        printer_.new_notices(model_);
}

Result<bool> Session::pump(nanoseconds timeout, int wake_fd) {
    auto more = guarded(
        [&] { return backend_.poll(services_.idle_time(timeout), services_.wake_fd(wake_fd)); });
    if (const auto news =
            store_limit_.keep(model_, [&] { return backend_.symbol_progress().bytes; }))
        printer_.notice(backend_.now_ns(), *news);
    printer_.new_notices(model_);
    tend();
    return more;
}

Result<void> Session::start_command() {
    return settings().target.kind == TargetSpec::Kind::command ? backend_.start_command()
                                                               : Result<void>{};
}

Result<void> Session::begin_wait() {
    waited_ = true;
    return start_command();
}

Result<bool> Session::step(nanoseconds timeout) {
    auto more = pump(timeout, interrupts_.wake_fd());
    if (!more)
        return more.error();
    if (interrupts_.take_interrupt() || interrupts_.stopping())
        return interrupted();
    return more;
}

bool Session::target_ended() const {
    if (backend_.replaying())
        return false;
    const TargetStatus status = backend_.target_status();
    return !status.processes.empty() &&
           std::ranges::none_of(status.processes, &TargetStatus::Process::running);
}

Result<void> Session::run_to_end() {
    if (auto started = begin_wait(); !started)
        return started;
    while (true) {
        // A recording delivers as much of its own time as asked for, at once: all of it, since a
        // damaged one may have its last event after centuries.
        auto more = step(backend_.replaying() ? nanoseconds::max() : nanoseconds(longest_step));
        if (!more)
            return more.error();
        if (!*more)
            break;
    }
    if (backend_.replaying())
        editor_.adopt_recorded();
    return backend_.refresh();
}

bool Session::read_recording() {
    if (!backend_.replaying() || waited_ || (!options_.batch && backend_.live()))
        return false;
    return run_to_end().ok();
}

Result<void> Session::prepare_view() {
    const bool ends_by_itself =
        backend_.replaying() || settings().target.kind == TargetSpec::Kind::command;
    // What goes on by itself is run to its end only when nobody can wait for it otherwise.
    if (!waited_ && ends_by_itself && (options_.batch || !backend_.live())) {
        if (auto ended = run_to_end(); !ended)
            return ended;
    }
    return refresh_view();
}

Result<void> Session::refresh_view() {
    if (auto refreshed = backend_.refresh(); !refreshed)
        return refreshed;
    backend_.settle_symbols(options_.settle);
    return {};
}

// When the target has ended, so has that which services are for; a recording stays to be looked at.
Result<void> Session::run_services() {
    if (auto started = begin_wait(); !started)
        return started;
    bool more = backend_.live();
    while (!interrupts_.stopping() && !interrupts_.take_interrupt()) {
        if (more) {
            auto pumped = pump(longest_step, interrupts_.wake_fd());
            if (!pumped)
                return pumped.error();
            more = *pumped;
            if (!more && !backend_.replaying())
                break;
            continue;
        }
        services_.wait(longest_step, interrupts_.wake_fd());
        tend();
    }
    return {};
}

Result<void> Session::finish() {
    if (!waited_ && services_.active())
        return run_services();
    if (!waited_ && settings().target.kind == TargetSpec::Kind::command)
        return run_to_end();
    return start_command();
}

Result<void> Session::before_prompt() {
    if (!backend_.live() && !waited_)
        return run_to_end();
    return start_command();
}

Result<void> Session::close() {
    // What they write last has all samples up to now.
    if (services_.active())
        if (auto refreshed = backend_.refresh(); !refreshed)
            printer_.notice(backend_.now_ns(), refreshed.error().message());
    for (const std::string& line : services_.finish())
        printer_.notice(backend_.now_ns(), line);
    if (!settings().recording.empty()) {
        editor_.forget_recording();
        if (auto whole = backend_.record({}); !whole)
            return whole;
    }
    return services_.outcome();
}

} // namespace auger
