// SPDX-License-Identifier: GPL-3.0-or-later
// Services: what is set, and going on for them when nobody types.
#include "repl/session/runner.h"

#include "views/escape.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr std::chrono::milliseconds longest_step{100}; // between looks at signals

} // namespace

// When the target has ended, so has that which services are for; a recording stays to be looked at.
Result<void> Session::run_services() {
    waited_ = true;
    if (auto started = start_command(); !started)
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

std::vector<std::string> Session::serving_lines(const std::string& address) const {
    std::vector<std::string> lines;
    for (const std::string& place : services_.endpoint().listening(address))
        lines.push_back(fmt::format("serving at {}", escape_untrusted(place)));
    if (lines.empty())
        lines.push_back("serving nowhere");
    return lines;
}

Parsed<Reply> Session::Runner::operator()(const ServeCommand&) {
    return session.told(session.serving_lines(), "serve");
}

Parsed<Reply> Session::Runner::operator()(const TriggerCommand&) {
    std::vector<std::string> lines;
    for (const Trigger& trigger : session.settings_.triggers) {
        if (const ProbeSetting* probe = session.settings_.find(trigger.probe))
            lines.push_back(describe(trigger, *probe));
    }
    if (lines.empty())
        lines.push_back("slow calls trigger nothing");
    return session.told(lines, "on");
}

Parsed<Reply> Session::Runner::operator()(const RecordCommand&) {
    const Settings& settings = session.settings_;
    std::vector<std::string> lines;
    if (!settings.recording.empty())
        lines.push_back(fmt::format("recording to {}", escape_untrusted(settings.recording)));
    if (!settings.intervals.folder.empty()) {
        const IntervalRecorder& intervals = session.services_.intervals();
        lines.push_back(describe(settings.intervals));
        lines.back() += fmt::format("; {} written", intervals.written());
        if (!intervals.last_stamp().empty())
            lines.back() += fmt::format(", the last is of {}", intervals.last_stamp());
    }
    if (lines.empty())
        lines.push_back("nothing is being recorded");
    return session.told(lines, "record");
}

Reply Session::told(const std::vector<std::string>& lines, std::string_view reply) const {
    JsonObject object = json_reply(reply);
    object["lines"] = lines;
    std::string text;
    for (const std::string& line : lines)
        text += line + "\n";
    return Reply(std::move(text), json_line(object));
}

} // namespace auger
