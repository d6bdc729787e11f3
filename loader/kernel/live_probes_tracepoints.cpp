// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: tracepoints of the kernel's, which are in no file.
#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/live_probes.h"
#include "loader/kernel/place_kind.h"
#include "loader/probes/program_compiler.h"
#include "loader/tracepoints/find_tracepoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

namespace auger {

namespace {

constexpr size_t most_attached = 64;  // of one probe's
constexpr size_t most_listed = 5'000; // there are some 2,000

constexpr const char* of_the_kernel = "kernel"; // in place of a module's path

std::string array_of(const EventField& field) {
    return !field.is_array  ? field.type
           : field.elements ? fmt::format("{}[{}]", field.type, field.elements)
                            : field.type + "[]";
}

Error no_kernel_function(const ProbePattern& pattern) {
    const std::string missing = missing_kernel_probes();
    return {"time", pattern.text,
            missing.empty() ? "functions of the kernel are not timed"
                            : fmt::format("functions of the kernel cannot be probed: this kernel "
                                          "is built without {}",
                                          missing),
            "its tracepoints can be counted and timed: \"probes tracepoint " +
                pattern.function.substr(0, pattern.function.find('_')) +
                "*\" lists them, `time syscall:read` times a system call",
            Error::Kind::unsupported};
}

constexpr const char* slows_calls = "while a tracepoint of system calls is attached, every system "
                                    "call of every process on this machine takes longer";

// How what it begins is timed; empty: its name does not say where that ends.
std::string how_to_time(const Tracefs& tracefs, const TracepointSite& site) {
    constexpr std::string_view enter = "sys_enter_";
    const TracepointName name{site.category, site.name};
    const auto end = end_of_pair(tracefs, name);
    if (!end)
        return {};
    if (site.category == "syscalls")
        return fmt::format("it is counted; `time syscall:{}` times the calls",
                           site.name.substr(enter.size()));
    return fmt::format("it is counted; `span NAME from {} to {}` times what lies between, on one "
                       "thread; with `key args.FIELD` at both it may end anywhere",
                       name.text(), end->text());
}

} // namespace

Result<ProbeMatches> LiveProbes::find_tracepoints_of(const ProbePattern& pattern) const {
    auto names = find_tracepoints(tracefs_, pattern, most_attached);
    if (!names)
        return names.error();
    ProbeMatches found;
    for (const TracepointName& name : *names) {
        auto text = tracefs_.format_text(name.category, name.name);
        const auto format = text ? parse_event_format(*text) : text.error();
        if (!format) {
            found.skipped.push_back({0, name.text(), format.error().message()});
            continue;
        }
        PlaceMatch match{};
        match.kind = PlaceKind::tracepoint;
        match.name = name.text();
        match.tracepoint = {name.category, name.name, *std::move(text), format->id};
        match.entry.cost = ProbeCost::optimised;
        found.places.push_back(std::move(match));
    }
    if (found.places.empty())
        return nothing_to_probe(found.skipped);
    return found;
}

Result<ProbeMatches> LiveProbes::find(const ProbePattern& pattern, const TargetView& view,
                                      const MatchOptions& options) {
    if (pattern.tracepoint())
        return find_tracepoints_of(pattern);
    if (pattern.kernel_function())
        return no_kernel_function(pattern);
    if (!pattern.language.empty())
        return find_native(pattern, view, options);
    return readers_.find(pattern, view.files(), options);
}

Result<void> LiveProbes::attach_tracepoints(Probe& probe, const ProbeMatches& matches,
                                            const TargetView& view, ProbeReport& report) {
    std::vector<Place> places;
    std::vector<UniqueFd> links;
    auto give_up = [&](const Error& error) {
        links.clear();
        // As attach_new() does it.
        for (const Place& place : std::views::reverse(places)) {
            call_programs_.remove(place.spec);
            specs_.retract(place.spec);
        }
        return error;
    };
    if (auto reserved = specs_.reserve(matches.places.size()); !reserved)
        return reserved;
    ProgramCompiler compiler(readers_, request_for(probe, view));
    const auto program_at = [&](size_t index) { return programs_.tracepoint_program(index); };
    for (const PlaceMatch& match : matches.places) {
        const std::string why = probe.point                 ? no_point(match, *probe.point)
                                : asks_for_durations(probe) ? no_duration(match.kind)
                                                            : "";
        if (!why.empty()) {
            report.skipped.push_back(fmt::format("{}: {}", match.name, why));
            continue;
        }
        Place fresh{{}, match, {}, ExitWay::point};
        fresh.values = values_of(match, view);
        auto program = compiler.compile(fresh.values);
        if (!program)
            return give_up(program.error());
        if (probe.point)
            if (auto checked = check_key(*probe.point, *program); !checked)
                return give_up(checked.error());
        auto spec = specs_.add(settings_of(probe, fresh));
        if (!spec)
            return give_up(spec.error());
        fresh.spec = *spec;
        places.push_back(std::move(fresh));
        if (auto asked = ask(probe, places.back(), std::move(*program)); !asked)
            return give_up(asked.error());
        auto link = create_tracepoint_link(program_at, Programs::tracepoint_programs,
                                           match.tracepoint->id, specs_.cookie(*spec), match.name);
        if (!link)
            return give_up(link.error());
        links.push_back(*std::move(link));
    }
    if (places.size() == 1 && !probe.point)
        if (std::string how = how_to_time(tracefs_, *places.front().match.tracepoint); !how.empty())
            report.notes.push_back(std::move(how));
    const bool of_calls = std::ranges::any_of(places, [](const Place& place) {
        return is_of_system_calls(place.match.tracepoint->category);
    });
    if (of_calls && std::ranges::find(report.notes, slows_calls) == report.notes.end())
        report.notes.push_back(slows_calls);
    for (Place& place : places) {
        ProbePlace shown = shown_tracepoint(place);
        if (probe.point)
            shown.function =
                fmt::format("{} {}", role_text(probe.point->point.role), shown.function);
        sink_.on_spec(place.spec,
                      {probe.point ? probe.point->span : probe.info.id, shown.function,
                       shown.module, 0,
                       probe.point ? ObservedExit::Kind::span_point : ObservedExit::Kind::count});
        report.places.push_back(std::move(shown));
        probe.info.specs.push_back(place.spec);
        probe.places.push_back(std::move(place));
    }
    std::ranges::move(links, std::back_inserter(probe.links));
    return {};
}

ProbePlace LiveProbes::shown_tracepoint(const Place& place) {
    return shown_place(place, of_the_kernel);
}

Result<Tracepoints> LiveProbes::list_tracepoints(const std::string& pattern) const {
    ParsedProbe parsed =
        parse_probe(pattern.starts_with("tracepoint:") ? pattern : "tracepoint:" + pattern);
    if (parsed.error)
        return parsed.error->error;
    auto names = find_tracepoints(tracefs_, *parsed.pattern, most_listed);
    if (!names)
        return names.error();
    Tracepoints all;
    for (const TracepointName& name : *names) {
        TracepointInfo info;
        info.category = name.category;
        info.name = name.name;
        if (const auto end = end_of_pair(tracefs_, name))
            info.ends_at = end->name;
        const auto format = tracefs_.format(name.category, name.name);
        if (!format)
            info.fault = format.error().message();
        else
            for (const EventField& field : format->fields)
                info.fields.push_back({array_of(field), field.name});
        all.tracepoints.push_back(std::move(info));
    }
    return all;
}

} // namespace auger
