// SPDX-License-Identifier: GPL-3.0-or-later
// Time: wait, assert, and the end of targets that end by themselves. The clock is the observed
// machine's, so a recording waits in its own time.
#include "repl/session/runner.h"

#include "repl/language/values.h"
#include "repl/session/evaluate.h"
#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

using std::chrono::nanoseconds;

constexpr uint64_t longest_step_ns = 100'000'000; // between looks at conditions

Error interrupted() {
    return {"", "", "interrupted", "", Error::Kind::failed};
}

} // namespace

Result<void> Session::start_command() {
    return settings_.target.kind == TargetSpec::Kind::command ? backend_.start_command()
                                                              : Result<void>{};
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
    waited_ = true;
    if (auto started = start_command(); !started)
        return started;
    while (true) {
        // A recording delivers as much of its own time as asked for, at once: all of it, since a
        // damaged one may have its last event after centuries.
        auto more = step(backend_.replaying() ? nanoseconds::max() : nanoseconds(longest_step_ns));
        if (!more)
            return more.error();
        if (!*more)
            break;
    }
    if (backend_.replaying())
        adopt_recorded();
    return backend_.refresh();
}

Result<void> Session::prepare_view() {
    const bool ends_by_itself =
        backend_.replaying() || settings_.target.kind == TargetSpec::Kind::command;
    // What goes on by itself is run to its end only when nobody can wait for it otherwise.
    if (!waited_ && ends_by_itself && (options_.batch || !backend_.live())) {
        if (auto ended = run_to_end(); !ended)
            return ended;
    }
    if (auto refreshed = backend_.refresh(); !refreshed)
        return refreshed;
    backend_.settle_symbols(options_.settle);
    return {};
}

Result<void> Session::finish() {
    if (!waited_ && services_.active())
        return run_services();
    if (!waited_ && settings_.target.kind == TargetSpec::Kind::command)
        return run_to_end();
    return start_command();
}

Result<void> Session::before_prompt() {
    if (!backend_.live() && !waited_)
        return run_to_end();
    return start_command();
}

Result<void> Session::close() {
    for (const std::string& line : services_.finish())
        show_notice(backend_.now_ns(), line);
    if (!settings_.recording.empty()) {
        settings_.recording.clear();
        if (auto whole = backend_.record({}); !whole)
            return whole;
    }
    return services_.outcome();
}

Parsed<Reply> Session::wait_for(const WaitCommand& command, Span at) {
    waited_ = true;
    if (auto started = start_command(); !started)
        return complaint_of(started.error(), at);
    const uint64_t start = backend_.now_ns();
    const uint64_t limit =
        command.until ? command.limit_ns.value_or(UINT64_MAX - start) : command.duration_ns;
    const uint64_t end = start + std::min(limit, UINT64_MAX - start);
    JsonObject object = json_reply("wait");
    bool ended = false;
    std::string spelled;
    while (true) {
        if (command.until) {
            if (auto refreshed = backend_.refresh(); !refreshed)
                return complaint_of(refreshed.error(), at);
            const Quantity& quantity = command.until->quantity;
            auto value = value_of(quantity, command.until->at);
            // What has no value yet (no call has returned) may have one later; a mistake has not.
            if (!value && (ended || (quantity.of_probe() && !shown_probe(*quantity.probe))))
                return value.complaint();
            if (value) {
                spelled = format_quantity(quantity, *value);
                if (command.until->holds(*value))
                    break;
            } else {
                spelled = "unknown: " + value.complaint().message;
            }
        }
        const uint64_t now = backend_.now_ns();
        if (ended || now >= end) {
            if (!command.until)
                break;
            return Complaint{command.until->at,
                             ended ? fmt::format("\"{}\" cannot come true any more: it is {}, and "
                                                 "nothing more will come",
                                                 command.until->spelled, spelled)
                                   : fmt::format("\"{}\" has not come true within {}: it is {}",
                                                 command.until->spelled, spell_duration(limit),
                                                 spelled),
                             "", Error::Kind::failed};
        }
        auto more = step(nanoseconds(std::min(end - now, longest_step_ns)));
        if (!more)
            return complaint_of(more.error(), at);
        ended = !*more;
    }
    if (!command.until) {
        if (auto refreshed = backend_.refresh(); !refreshed)
            return complaint_of(refreshed.error(), at);
    }
    if (backend_.replaying())
        adopt_recorded();
    const uint64_t waited = backend_.now_ns() - start;
    object["waited"] = waited;
    object["ended"] = ended;
    std::string text = fmt::format("waited {}", format_duration(static_cast<double>(waited)));
    if (command.until)
        text += fmt::format(": {} ({})", command.until->spelled, spelled);
    else if (ended)
        text += ": nothing more will come";
    return Reply::message(std::move(text), std::move(object));
}

Parsed<double> Session::value_of(const Quantity& quantity, Span at) const {
    EvaluateContext context{model_, settings_.window, std::nullopt, target_ended()};
    if (quantity.of_probe()) {
        auto probe = shown_probe(*quantity.probe);
        if (!probe)
            return probe.complaint();
        context.probe = *probe;
    }
    auto value = evaluate(quantity, context);
    if (!value)
        return complaint_of(value.error(), quantity.text.empty() ? at : quantity.at);
    return *value;
}

Parsed<Reply> Session::check(const AssertCommand& command) {
    const Condition& condition = command.condition;
    if (auto ready = prepare_view(); !ready)
        return complaint_of(ready.error(), condition.at);
    auto value = value_of(condition.quantity, condition.at);
    if (!value)
        return value.complaint();
    const std::string spelled = format_quantity(condition.quantity, *value);
    if (!condition.holds(*value))
        return Complaint{condition.at,
                         fmt::format("\"{}\" does not hold: it is {}", condition.spelled, spelled),
                         "", Error::Kind::failed};
    JsonObject object = json_reply("assert");
    object["condition"] = condition.spelled;
    object["value"] = *value;
    return Reply::message(fmt::format("holds: {} ({})", condition.spelled, spelled),
                          std::move(object));
}

Parsed<Reply> Session::Runner::operator()(const WaitCommand& command) {
    return session.wait_for(command, at);
}

Parsed<Reply> Session::Runner::operator()(const AssertCommand& command) {
    return session.check(command);
}

} // namespace auger
