// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: spans. A span's own probe has a spec that counts and has a threshold, and no place in
// a file; each of its points is a probe of its own, so that all that is done for probes as the
// target changes is done for points, too.
#include "loader/kernel/live_probes.h"

#include "loader/kernel/go_calls.h"
#include "loader/kernel/place_kind.h"
#include "loader/process/listeners.h"
#include "loader/tracepoints/find_tracepoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

Error LiveProbes::no_values(const Probe& span) {
    return {"judge calls by their values", span.info.text, "a span has no arguments and no result",
            "`if` behind the span's own `from` or `to` chooses where it begins and ends"};
}

Result<void> LiveProbes::show_context(Probe& span, const TargetView& view, Transaction& edit) {
    const bool shown =
        span.info.slow.kind != Threshold::Kind::none && ThreadContexts::may_be_there(view);
    if (shown)
        contexts_.want(view);
    for (Place& place : span.places) {
        auto entered = call_programs_.enter(
            place.spec, shown ? std::optional(context_program()) : std::nullopt, edit);
        if (!entered)
            return entered.error();
        edit.restore(place.program);
        place.program = *entered;
    }
    return publish(span, edit);
}

void LiveProbes::tell(const Probe& probe) {
    if (!probe.point) {
        sink_.on_probe(probe.info);
        return;
    }
    Probe& span = probes_.at(probe.point->span);
    for (const SpecId spec : probe.info.specs)
        if (std::ranges::find(span.info.specs, spec) == span.info.specs.end())
            span.info.specs.push_back(spec);
    sink_.on_probe(span.info);
}

bool LiveProbes::has_spans() const {
    return std::ranges::any_of(probes_,
                               [](const auto& probe) { return !probe.second.span.empty(); });
}

std::vector<LiveProbes::KeyedSpans> LiveProbes::keyed_spans() const {
    std::vector<KeyedSpans> keyed;
    for (const auto& [id, probe] : probes_) {
        const bool has_key = std::ranges::any_of(
            probe.span.points, [](const SpanPoint& point) { return !point.key.empty(); });
        if (!has_key || probe.span.exchanges || probe.places.empty())
            continue;
        const SpecId spec = probe.places.front().spec;
        const uint64_t cookie = specs_.cookie(spec);
        keyed.push_back({spec, static_cast<uint16_t>(cookie & WIRE_COOKIE_SPEC_MASK),
                         static_cast<uint16_t>(cookie >> WIRE_COOKIE_GENERATION_SHIFT)});
    }
    return keyed;
}

namespace {

// Tracepoints that are hit while a lock is held, which may be any, or the allocator's.
bool holds_locks(const std::string& category) {
    return category == "lock" || category == "kmem";
}

} // namespace

namespace {

// Of exchanges by TCP, where the target is asked at unix sockets.
std::string where_else(const ExchangeDefinition& exchanges, const TargetView& view) {
    if (!exchanges.unix_path.empty() || exchanges.port || view.everything)
        return {};
    constexpr size_t most = 4;
    std::vector<std::string> paths;
    for (const Listener& listener : listeners_of(view.pids).places)
        if (!listener.unix_path.empty())
            paths.push_back(listener.unix_path);
    if (paths.empty())
        return {};
    if (paths.size() > most) {
        std::string rest = fmt::format("{} more", paths.size() - most);
        paths.resize(most);
        paths.push_back(std::move(rest));
    }
    return fmt::format("requests on unix sockets are not seen: the target listens on {} (write "
                       "exchanges unix PATH)",
                       fmt::join(paths, ", "));
}

} // namespace

std::string LiveProbes::no_point(const PlaceMatch& match, const PointOfSpan& point) {
    if (match.in_go && !point.at_entry())
        return "the return of a Go function cannot be a point: name a function that is called "
               "there, or time the function";
    if (match.kind == PlaceKind::function || match.kind == PlaceKind::call_site)
        return {};
    if (!point.at_entry() && match.kind == PlaceKind::tracepoint)
        return "a tracepoint returns nothing: its values are its fields (args.FIELD)";
    if (!point.at_entry())
        return "a place inside a function does not return";
    // Before Linux 6.16 and 6.4, telling of a span and remembering it take locks of their own.
    if (match.tracepoint && holds_locks(match.tracepoint->category))
        return "the kernel may hold a lock there that what happens to a span needs; `time` counts "
               "it";
    if (match.kind == PlaceKind::usdt || match.kind == PlaceKind::tracepoint)
        return {};
    if (!point.point.key.empty() || !point.point.only_if.empty())
        return "arguments are known where a function begins, not at a place inside it: leave out "
               "`key` and `if`, or name the function or a USDT probe";
    return {};
}

Result<void> LiveProbes::check_key(const PointOfSpan& point, std::optional<CallProgram>& program) {
    if (!program || point.point.key.empty())
        return {};
    if (program->wire.label >= program->wire.fetches)
        return Error{"key a span", point.point.key, "this is no value of the call",
                     "a pointer, a number or a string is a key: arg0, req->id, str(name)"};
    const bool is_string = program->wire.fetch[program->wire.label].flags & WIRE_FETCH_STRING;
    std::optional<bool>& strings = probes_.at(point.span).has_string_keys;
    if (strings.value_or(is_string) != is_string)
        return Error{"key a span", point.point.key,
                     is_string ? "this is a string, and another of the span's keys is a number"
                               : "this is a number, and another of the span's keys is a string",
                     "the keys of a span are compared with each other"};
    strings = is_string;
    if (!point.at_entry())
        program->wire.judges_end = 1;
    return {};
}

Result<ProbeReport> LiveProbes::add_span(const ProbeRequest& request, const TargetView& view) {
    // What ends those that nothing else does: not to be loaded while they are open.
    if (auto sweep = programs_.program(ProgramKind::sweep_spans); !sweep)
        return sweep.error();
    ProbeInfo info;
    info.id = request.id;
    info.text = request.text;
    info.slow = request.slow;
    info.conditions = request.conditions;
    info.span = request.span.text;
    Probe span{std::move(info), {}, way_out_, ThresholdFollower(request.slow), {}, {}};
    span.span = request.span;
    ProbeReport report;
    Probe& entered = probes_.insert_or_assign(request.id, std::move(span)).first->second;
    if (auto attached = attach_span(entered, view, report); !attached) {
        probes_.erase(request.id);
        return attached.error();
    }
    sink_.on_probe(entered.info);
    return report;
}

Result<std::vector<LiveProbes::FoundPoint>> LiveProbes::find_points(const Probe& span,
                                                                    const TargetView& view) {
    std::vector<FoundPoint> points;
    for (const SpanPoint& point : span.span.points) {
        ParsedProbe parsed = parse_probe(point.probe);
        if (parsed.error)
            return parsed.error->error;
        ProbeInfo info;
        info.id = ProbeId{next_point_++};
        info.text = point.probe;
        Probe probe{
            std::move(info), *parsed.pattern, span.way_out, ThresholdFollower(Threshold{}), {}, {}};
        probe.point = {span.info.id, {}, point};
        auto matches = find(probe.pattern, view);
        if (!matches && readers_.take_interrupted())
            return matches.error();
        if (!matches && !may_come(probe.pattern, view))
            return matches.error();
        probe.waits_for_native = !matches && !probe.pattern.language.empty();
        if (matches) {
            std::vector<std::string> why;
            for (const PlaceMatch& match : matches->places)
                why.push_back(no_point(match, *probe.point));
            if (!why.empty() && std::ranges::none_of(why, &std::string::empty))
                return Error{"span", point.probe,
                             fmt::format("it cannot be a point of {}", span.info.text),
                             why.front()};
        }
        points.emplace_back(std::move(probe), std::move(matches));
    }
    return points;
}

Result<void> LiveProbes::attach_span(Probe& span, const TargetView& view, ProbeReport& report) {
    // What can fail for what was typed fails before anybody is told of a spec.
    auto found = find_points(span, view);
    if (!found)
        return found.error();
    std::vector<FoundPoint>& points = *found;

    TimedPlace own{};
    auto spec = specs_.add(settings_of(span, own));
    if (!spec)
        return spec.error();
    own.spec = *spec;
    sink_.on_spec(own.spec, {span.info.id, span.info.text, "", 0, ObservedExit::Kind::span});
    span.info.specs.push_back(own.spec);
    functions_.add(own.spec, span.info.id, {});
    span.places.push_back(std::move(own));
    auto give_up = [&](const Error& error) {
        remove_points(span);
        for (const Place& place : span.places) {
            remove_spec(place.spec);
            functions_.remove(place.spec);
        }
        span.places.clear();
        // Its specs are known by now. A span that was to come back stays, with what it has.
        span.info.deleted = !span.info.off;
        sink_.on_probe(span.info);
        return error;
    };

    // Who issued a request is not who is interrupted when it is done.
    const bool anywhere = std::ranges::any_of(points, [](const auto& point) {
        return point.first.pattern.tracepoint() && !point.first.point->point.key.empty() &&
               !is_of_system_calls(point.first.pattern.category);
    });
    const bool resumed = std::ranges::any_of(points, [](const auto& point) {
        return point.first.point->point.role == SpanPoint::Role::resume;
    });
    // The beginnings last: a span that begins meanwhile is seen whole or not at all.
    std::ranges::stable_partition(points, [](const auto& point) {
        return point.first.point->point.role != SpanPoint::Role::from;
    });
    for (auto& [probe, matches] : points) {
        probe.point->spec = span.places.front().spec;
        probe.point->anywhere = anywhere;
        probe.point->resumed = resumed;
        if (matches) {
            for (const SkippedPlace& skipped : matches->skipped)
                report.skipped.push_back(fmt::format("{}: {}", skipped.name, skipped.reason));
            report.notes.insert(report.notes.end(), matches->notes.begin(), matches->notes.end());
            const size_t before = report.places.size();
            if (auto attached = attach_new(probe, *matches, view, report); !attached)
                return give_up(attached.error());
            if (report.places.size() == before && !probe.being_read)
                return give_up(Error{"span", probe.info.text, "nothing that matches can be probed",
                                     fmt::format("{}", fmt::join(report.skipped, "; "))});
        } else {
            report.notes.push_back(fmt::format("{} {}: {}", role_text(probe.point->point.role),
                                               probe.info.text,
                                               waits_for(probe.pattern, matches.error())));
        }
        for (const SpecId made : probe.info.specs)
            span.info.specs.push_back(made);
        const ProbeId id = probe.info.id;
        probes_.insert_or_assign(id, std::move(probe));
    }
    if (span.span.exchanges)
        if (auto watched = exchanges_.add(span.info.id, specs_.cookie(span.places.front().spec),
                                          *span.span.exchanges);
            !watched)
            return give_up(watched.error());
    if (span.span.exchanges)
        if (std::string note = where_else(*span.span.exchanges, view); !note.empty())
            report.notes.push_back(std::move(note));
    watch_goroutines_of_exchanges(view);
    std::ranges::stable_partition(report.places, [](const ProbePlace& place) {
        return place.function.starts_with(role_text(SpanPoint::Role::from));
    });
    Transaction edit;
    if (auto shown = show_context(span, view, edit); !shown)
        return give_up(shown.error());
    edit.commit();
    return {};
}

void LiveProbes::watch_waits(bool wanted, const TargetView& view) {
    go_switches_.set_wanted(wanted, view);
    watch_goroutines_of_exchanges(view);
}

// In Go programs exchanges belong to goroutines, and only the runtime says when those wait. Of a
// whole machine most programs answer none, and would pay for it all the same.
void LiveProbes::watch_goroutines_of_exchanges(const TargetView& view) {
    if (exchanges_.empty() || !go_switches_.is_wanted() || view.everything)
        return;
    std::set<FileIdentity> without;
    for (const TargetModule& module : view.modules) {
        if (!module.main_program)
            continue;
        if (without_goroutines_.contains(module.identity())) {
            without.insert(module.identity());
            continue;
        }
        const auto places = readers_.go_places(module.file);
        if (!places && readers_.not_yet())
            continue;
        if (places && places->runtime &&
            go_switches_.add_program(module, view, *places, request_for(ExitWay::go_switches)))
            enter_go_processes(programs_, *places->runtime, module.pids);
        else
            without.insert(module.identity());
    }
    without_goroutines_ = std::move(without);
}

void LiveProbes::remove_points(const Probe& span) {
    if (span.span.empty())
        return;
    exchanges_.remove(span.info.id);
    std::erase_if(probes_, [&](const auto& entry) {
        const Probe& probe = entry.second;
        if (!probe.point || probe.point->span != span.info.id)
            return false;
        for (const Place& place : probe.places)
            remove_spec(place.spec);
        return true;
    });
}

} // namespace auger
