// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/reply.h"

#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace auger {
namespace {

std::string process_list(const std::vector<pid_t>& pids) {
    return fmt::format("{}", fmt::join(pids, ", "));
}

std::string state_name(Capability::State state) {
    switch (state) {
    case Capability::State::available:
        return "yes";
    case Capability::State::degraded:
        return "partly";
    case Capability::State::missing:
        break;
    }
    return "no";
}

} // namespace

JsonObject json_reply(std::string_view command) {
    return {{"schema", 1}, {"command", command}};
}

std::string json_line(const JsonObject& object) {
    return object.dump(-1, ' ', false, JsonObject::error_handler_t::replace);
}

std::string json_error(std::string_view command, const Diagnostic& diagnostic) {
    JsonObject object = json_reply(command);
    object["error"] = {{"file", escape_untrusted(diagnostic.line.name)},
                       {"line", diagnostic.line.number},
                       {"column", diagnostic.column()},
                       {"message", escape_untrusted(diagnostic.complaint.message)},
                       {"hint", escape_untrusted(diagnostic.complaint.hint)}};
    return json_line(object);
}

std::string json_error(const Error& error) {
    Error without_hint = error;
    without_hint.hint.clear();
    JsonObject object = json_reply("");
    object["error"] = {{"message", escape_untrusted(without_hint.message())},
                       {"hint", escape_untrusted(error.hint)}};
    return json_line(object);
}

Reply Reply::message(std::string text, JsonObject object) {
    object["message"] = text;
    return {text + "\n", json_line(object)};
}

std::string describe(const TargetSpec& target) {
    switch (target.kind) {
    case TargetSpec::Kind::pids:
        return fmt::format("{} {}", target.pids.size() == 1 ? "process" : "processes",
                           process_list(target.pids));
    case TargetSpec::Kind::name:
        return "processes called " + escape_untrusted(target.name + condition_text(target));
    case TargetSpec::Kind::all:
        return "every process";
    case TargetSpec::Kind::command:
        return fmt::format("command {}",
                           escape_untrusted(fmt::format("{}", fmt::join(target.command, " "))));
    case TargetSpec::Kind::none:
        break;
    }
    return "nothing";
}

std::string describe(const FilterSpec& filter) {
    std::vector<std::string> kinds;
    if (!filter.pids.empty())
        kinds.push_back(fmt::format("pid {}", fmt::join(filter.pids, " or ")));
    if (!filter.tids.empty())
        kinds.push_back(fmt::format("tid {}", fmt::join(filter.tids, " or ")));
    if (!filter.comms.empty())
        kinds.push_back(escape_untrusted(fmt::format("comm {}", fmt::join(filter.comms, " or "))));
    if (!filter.cgroups.empty())
        kinds.push_back(
            escape_untrusted(fmt::format("cgroup {}", fmt::join(filter.cgroups, " or "))));
    return kinds.empty() ? "off" : fmt::format("{}", fmt::join(kinds, ", and "));
}

std::string describe(const IntervalFiles& files) {
    std::vector<std::string_view> formats;
    for (const ExportFormat* format : files.formats)
        formats.push_back(format->name);
    return fmt::format("recording intervals of {} to {} as {}, the latest {} stay",
                       spell_duration(files.every_ns), escape_untrusted(files.folder),
                       fmt::join(formats, " and "), files.keep);
}

std::string describe(const Trigger& trigger, const ProbeSetting& probe) {
    return fmt::format(
        "on slow calls of {} > {} recording the last {} to {}, at most one every {}; "
        "the latest {} stay",
        escape_untrusted(probe.text), spell_threshold(probe.slow), spell_duration(trigger.span_ns),
        escape_untrusted(trigger.folder), spell_duration(trigger.rest_ns), trigger.keep);
}

std::string describe(const OverheadLimit& limit) {
    return limit.brakes
               ? fmt::format("observing may take {:g} % of the target's CPU time; it is said from "
                             "{:g} % on",
                             limit.percent, limit.warn_percent())
               : fmt::format("observing may take any share of the target's CPU time; it is said "
                             "from {:g} % on",
                             limit.warn_percent());
}

std::string describe(WayOut way_out) {
    switch (way_out) {
    case WayOut::ret:
        return "ret (a probe on every exit instruction)";
    case WayOut::trampoline:
        return "trampoline (return probe)";
    case WayOut::automatic:
        break;
    }
    return "auto (return probe only where it is proven harmless)";
}

std::string process_lines(const TargetStatus& status, size_t limit) {
    std::string out;
    size_t shown = 0;
    for (const auto& process : status.processes) {
        if (shown++ == limit) {
            out += fmt::format("  ... and {} more\n", status.processes.size() - limit);
            break;
        }
        out += fmt::format("  {} {}", process.pid, escape_untrusted(process.comm));
        if (!process.user.empty())
            out += fmt::format(" ({})", escape_untrusted(process.user));
        if (!process.running)
            out += fmt::format("  {}",
                               process.exit.empty() ? "ended" : escape_untrusted(process.exit));
        out += '\n';
    }
    return out;
}

JsonObject json_target(const TargetStatus& status) {
    JsonObject processes = JsonObject::array();
    for (const auto& process : status.processes)
        processes.push_back({{"pid", process.pid},
                             {"comm", escape_untrusted(process.comm)},
                             {"user", escape_untrusted(process.user)},
                             {"running", process.running},
                             {"exit", escape_untrusted(process.exit)}});
    return processes;
}

std::string report_lines(const ProbeReport& report, size_t limit) {
    std::string out;
    for (size_t i = 0; i < report.places.size(); ++i) {
        if (i == limit) {
            out += fmt::format("  ... and {} more; \"probes\" lists them\n",
                               report.places.size() - limit);
            break;
        }
        const ProbePlace& place = report.places[i];
        out +=
            fmt::format("  {}  {}+0x{:x}  {}", escape_untrusted(place.function),
                        escape_untrusted(place.module), place.offset, escape_untrusted(place.kind));
        if (!place.note.empty())
            out += fmt::format("  ({})", escape_untrusted(place.note));
        out += '\n';
    }
    for (size_t i = 0; i < std::min(limit, report.skipped.size()); ++i)
        out += fmt::format("  not probed: {}\n", escape_untrusted(report.skipped[i]));
    if (report.skipped.size() > limit)
        out += fmt::format("  ... and {} more not probed\n", report.skipped.size() - limit);
    if (report.pending)
        out += "  nothing matches yet; it waits for its library to be loaded\n";
    for (const std::string& note : report.notes)
        out += fmt::format("  {}\n", escape_untrusted(note));
    return out;
}

void add_report(JsonObject& object, const ProbeReport& report) {
    JsonObject places = JsonObject::array(), skipped = JsonObject::array(),
               notes = JsonObject::array();
    for (const ProbePlace& place : report.places)
        places.push_back({{"id", place.spec.value},
                          {"function", escape_untrusted(place.function)},
                          {"module", escape_untrusted(place.module)},
                          {"offset", place.offset},
                          {"kind", escape_untrusted(place.kind)},
                          {"note", escape_untrusted(place.note)}});
    for (const std::string& text : report.skipped)
        skipped.push_back(escape_untrusted(text));
    for (const std::string& text : report.notes)
        notes.push_back(escape_untrusted(text));
    object["places"] = std::move(places);
    object["skipped"] = std::move(skipped);
    object["pending"] = report.pending;
    object["notes"] = std::move(notes);
}

std::string capability_lines(const std::vector<Capability>& capabilities) {
    size_t width = 0;
    for (const Capability& capability : capabilities)
        width = std::max(width, capability.name.size());
    std::string out;
    for (const Capability& capability : capabilities) {
        out += fmt::format("{:<7}{:<{}}  {}\n", state_name(capability.state),
                           escape_untrusted(capability.name), width,
                           escape_untrusted(capability.detail));
        if (!capability.remedy.empty())
            out += fmt::format("{:7}{:<{}}  to do: {}\n", "", "", width,
                               escape_untrusted(capability.remedy));
    }
    return out;
}

JsonObject json_capabilities(const std::vector<Capability>& capabilities) {
    JsonObject list = JsonObject::array();
    for (const Capability& capability : capabilities)
        list.push_back({{"name", escape_untrusted(capability.name)},
                        {"state", state_name(capability.state)},
                        {"detail", escape_untrusted(capability.detail)},
                        {"remedy", escape_untrusted(capability.remedy)}});
    return list;
}

} // namespace auger
