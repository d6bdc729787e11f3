// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_probes.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/place_kind.h"
#include "loader/probes/module_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

constexpr size_t most_usdt_sites = 20'000; // that are listed

} // namespace

LiveProbes::LiveProbes(Programs& programs, const Features& features, ModuleCatalogue& catalogue,
                       NativeFunctions& natives, FileGuard& guard, const Tracefs& tracefs,
                       EventSink& sink, AttachWay way)
    : programs_(programs), measured_(programs), features_(features), readers_(catalogue.readers()),
      natives_(natives), guard_(guard), tracefs_(tracefs), sink_(sink), way_(way),
      exits_(features, catalogue, way), specs_(programs), call_programs_(programs),
      pointer_calls_(programs), go_switches_(programs, sink),
      contexts_(programs, catalogue.readers(), sink) {}

Result<ProbeReport> LiveProbes::add(const ProbeRequest& request, const TargetView& view) {
    if (!request.span.empty())
        return add_span(request, view);
    ParsedProbe parsed = parse_probe(request.text);
    if (parsed.error)
        return parsed.error->error;
    ProbeInfo info;
    info.id = request.id;
    info.text = request.text;
    info.slow = request.slow;
    info.conditions = request.conditions;
    Probe probe{
        std::move(info), *parsed.pattern, way_out_, ThresholdFollower(request.slow), {}, {}};
    ProbeReport report;
    if (needs_durations(probe.info.slow))
        if (auto checked = check_durations(probe, "trace slow calls"); !checked)
            return checked.error();
    auto matches = find(probe.pattern, view);
    if (matches) {
        for (const SkippedPlace& skipped : matches->skipped)
            report.skipped.push_back(fmt::format("{}: {}", skipped.name, skipped.reason));
        report.notes = matches->notes;
        if (auto attached = attach_new(probe, *matches, view, report); !attached)
            return attached.error();
        report.pending = report.places.empty();
        if (report.pending && !probe.being_read)
            return nothing_to_time(request.text, report);
    } else if (readers_.take_interrupted()) {
        return matches.error();
    } else {
        if (!may_come(probe.pattern, view))
            return matches.error();
        report.pending = true;
        probe.waits_for_native = !probe.pattern.language.empty();
        report.notes.push_back(waits_for(probe.pattern, matches.error()));
    }
    sink_.on_probe(probe.info);
    probes_.emplace(request.id, std::move(probe));
    return report;
}

// A library that is not there may still be loaded; a function that is not in it will not come.
bool LiveProbes::may_come(const ProbePattern& pattern, const TargetView& view) {
    if (pattern.tracepoint() || pattern.kernel_function())
        return false;
    if (!pattern.language.empty())
        return native_may_come_; // as was found just now
    const bool library_is_there =
        pattern.library.empty() ||
        std::ranges::any_of(view.modules, [&](const TargetModule& module) {
            return module_matches(pattern.library, module.path) ||
                   leads_to(pattern.library, module.file->fd());
        });
    return !library_is_there || view.modules.empty();
}

std::string LiveProbes::waits_for(const ProbePattern& pattern, const Error& problem) {
    if (!pattern.language.empty())
        return fmt::format("waits for it, because {}", problem.cause);
    return pattern.library.empty() ? "waits for a program that has it"
                                   : fmt::format("waits for {} to be loaded", pattern.library);
}

Error LiveProbes::nothing_to_time(const std::string& text, const ProbeReport& report) {
    return {"time", text, "nothing that matches can be timed",
            fmt::format("{}", fmt::join(report.skipped, "; "))};
}

Result<CallSites> LiveProbes::find_call_sites(const std::string& function, const TargetView& view) {
    if (const ParsedProbe named = parse_probe(function);
        named.pattern && !named.pattern->language.empty())
        return Error{"sites", function, "call sites are found by the names of functions in files",
                     "`time " + function + "` shows which function it is", Error::Kind::usage};
    ParsedProbe parsed = parse_probe(function + "@*");
    if (parsed.error)
        return parsed.error->error;
    auto matches = readers_.find(*parsed.pattern, view.files());
    if (!matches)
        return matches.error();
    CallSites found;
    for (const PlaceMatch& match : matches->places)
        if (match.site)
            found.sites.push_back({match.site->function, match.site->caller, match.site->file,
                                   match.site->line, view.modules[match.module].path,
                                   match.file_offset,
                                   place_kind(match, ExitWay::instructions, match.exits)});
    for (const SkippedPlace& skipped : matches->skipped)
        found.skipped.push_back(fmt::format("{}: {}", skipped.name, skipped.reason));
    for (const size_t module : matches->being_read)
        found.skipped.push_back(view.modules[module].file->path_and_owner() +
                                " is still being read");
    if (found.sites.empty() && !matches->being_read.empty())
        return Error{"sites", function, fmt::format("{}", fmt::join(found.skipped, "; ")),
                     "try again later"};
    return found;
}

Result<UsdtProbes> LiveProbes::find_usdt_probes(const std::string& pattern,
                                                const TargetView& view) {
    ParsedProbe parsed = parse_probe(pattern.starts_with("usdt:") ? pattern : "usdt:" + pattern);
    if (parsed.error)
        return parsed.error->error;
    MatchOptions options;
    options.limit = most_usdt_sites;
    auto matches = readers_.find(*parsed.pattern, view.files(), options);
    if (!matches)
        return matches.error();
    UsdtProbes found;
    for (const PlaceMatch& match : matches->places)
        if (match.usdt)
            found.add_site({view.modules[match.module].path, match.usdt->provider, match.usdt->name,
                            match.usdt->arguments, match.usdt->semaphore != 0});
    for (const SkippedPlace& skipped : matches->skipped)
        found.skipped.push_back(fmt::format("{} in {}: {}", skipped.name,
                                            view.modules[skipped.module].path, skipped.reason));
    for (const size_t module : matches->being_read)
        found.skipped.push_back(view.modules[module].file->path_and_owner() +
                                " is still being read");
    return found;
}

Result<void> LiveProbes::remove(ProbeId id) {
    auto found = probes_.find(id);
    if (found == probes_.end())
        return Error{"delete probe", fmt::format("#{}", id.value), "there is no such probe",
                     "`probes` lists them"};
    Probe& probe = found->second;
    // First the specs: a probe that fires while it is being detached does nothing.
    for (const Place& place : probe.places) {
        remove_spec(place.spec);
        functions_.remove(place.spec);
    }
    remove_points(probe);
    probe.info.deleted = true;
    sink_.on_probe(probe.info);
    probes_.erase(found);
    forget_go_files();
    forget_contexts();
    return {};
}

void LiveProbes::forget_contexts() {
    if (contexts_.is_wanted() && !call_programs_.read_contexts())
        contexts_.end();
}

// While there are exchanges those of all Go programs stay.
void LiveProbes::forget_go_files() {
    if (!exchanges_.empty())
        return;
    without_goroutines_.clear();
    go_switches_.remove_unless([&](FileIdentity file) {
        return std::ranges::any_of(probes_, [&](const auto& probe) {
            return std::ranges::any_of(probe.second.places, [&](const Place& place) {
                return place.exit == ExitWay::go && place.file == file;
            });
        });
    });
}

// First the specs, so that what still fires does nothing; then the links; and when nothing fires
// any more, what was counted up to then.
void LiveProbes::take_off(Probe& probe, uint64_t now_ns) {
    for (const Place& place : probe.places)
        specs_.disable(place.spec);
    probe.groups.clear();
    probe.links.clear();
    remove_points(probe);
    for (const Place& place : probe.places) {
        statistics_.read_last(place.spec, now_ns);
        remove_spec(place.spec);
        functions_.remove(place.spec);
    }
    probe.places.clear();
}

Result<void> LiveProbes::set_attached(ProbeId id, bool attached, const TargetView& view,
                                      uint64_t now_ns) {
    auto found = probes_.find(id);
    if (found == probes_.end())
        return Error{attached ? "attach probe" : "take off probe", fmt::format("#{}", id.value),
                     "there is no such probe", "`probes` lists them"};
    Probe& probe = found->second;
    if (attached != probe.info.off)
        return {};
    if (!attached) {
        take_off(probe, now_ns);
        forget_go_files();
    } else if (!probe.span.empty()) {
        ProbeReport report;
        if (auto made = attach_span(probe, view, report); !made)
            return made;
    } else if (auto matches = find(probe.pattern, view)) {
        ProbeReport report;
        if (auto made = attach_new(probe, *matches, view, report); !made)
            return made;
    } else if (readers_.take_interrupted()) {
        return matches.error();
    }
    probe.info.off = !attached;
    sink_.on_probe(probe.info);
    return {};
}

void LiveProbes::update(const TargetView& view, uint64_t now_ns) {
    MatchOptions quick; // nobody reads why nothing matches yet
    quick.explain = false;
    std::optional<UnwindProof> proof;
    std::set<std::string> problems;
    for (auto& [id, probe] : probes_) {
        if (probe.info.off || !probe.span.empty() || probe.pattern.tracepoint())
            continue;
        bool automatic_trampoline = probe.way_out == WayOut::automatic &&
                                    std::ranges::any_of(probe.groups, [](const PlaceGroup& group) {
                                        return is_trampoline(group.request().exit);
                                    });
        if (automatic_trampoline) {
            if (!proof)
                proof = exits_.prove(view);
            // What was proven holds while nobody knows better.
            if (!proof->proven && !proof->not_yet && !view.pids.empty())
                fall_back_to_exits(probe, view, proof->reason, now_ns);
        }
        // Groups in callers would have to change together with the function's.
        const bool with_tails = std::ranges::any_of(probe.groups, [](const PlaceGroup& group) {
            return group.request().exit == ExitWay::caller;
        });
        for (PlaceGroup& group : probe.groups) {
            if (const std::string reason = group.reason_to_widen(view);
                !reason.empty() && !with_tails)
                widen(probe, group, view, reason, problems, now_ns);
            if (auto attached = group.attach(programs_, view); !attached)
                tell_problem(problems, attached.error().message(), now_ns);
        }
        // A function that pointers go to may be anywhere, and so may a USDT probe.
        if (!probe.being_read && !probe.pattern.usdt() && !probe.places.empty() &&
            probe.pattern.library.empty() &&
            std::ranges::none_of(probe.places, &Place::through_pointer) &&
            std::all_of(view.modules.begin(), view.modules.end(), [&](const TargetModule& module) {
                return !module.main_program ||
                       std::any_of(
                           probe.places.begin(), probe.places.end(),
                           [&](const Place& place) { return place.file == module.identity(); });
            }))
            continue;
        // Who has many says what is not so, or changes all the time.
        if (!probe.pattern.language.empty() && probe.places.size() >= most_native_places)
            continue;
        auto matches = find(probe.pattern, view, quick);
        const bool lacks_native = !probe.pattern.language.empty() && !matches;
        // What has waited goes on to: a module is known before its code has defined all.
        probe.waits_for_native = lacks_native && (native_may_come_ || probe.waits_for_native);
        if (lacks_native && !native_may_come_ && probe.places.empty())
            tell_problem(problems, matches.error().message(), now_ns);
        const bool waited = std::exchange(probe.being_read, false);
        ProbeReport report;
        if (matches)
            if (auto attached = attach_new(probe, *matches, view, report); !attached) {
                tell_problem(problems, attached.error().message(), now_ns);
                continue;
            }
        // What has come at last cannot be probed.
        if (probe.places.empty())
            for (const std::string& why : report.skipped)
                tell_problem(problems, why, now_ns);
        if (waited && !probe.being_read)
            tell_what_was_read(probe, matches, now_ns);
        if (report.places.empty())
            continue;
        if (report.places.size() == probe.places.size()) // the first ones
            executed_before_ = std::max(executed_before_.value_or(0), probe.executed);
        tell(probe);
        sink_.on_notice(now_ns, fmt::format("{}: now {} in {} ({} more {}{})", probe.info.text,
                                            is_place(probe.pattern) ? "counted" : "timed",
                                            report.places.front().module, report.places.size(),
                                            is_place(probe.pattern) ? "place" : "function",
                                            report.places.size() == 1 ? "" : "s"));
    }
    go_switches_.update(view);
    watch_goroutines_of_exchanges(view);
    forget_contexts();
    contexts_.update(view);
    problems_ = std::move(problems);
}

void LiveProbes::tell_what_was_read(const Probe& probe, const Result<ProbeMatches>& matches,
                                    uint64_t now_ns) {
    if (!matches) {
        sink_.on_notice(now_ns, matches.error().message());
        return;
    }
    for (const std::string& note : matches->notes)
        sink_.on_notice(now_ns, fmt::format("{}: {}", probe.info.text, note));
}

// For every process from now on, with the filter in the kernel.
void LiveProbes::widen(Probe& probe, PlaceGroup& group, const TargetView& view,
                       const std::string& reason, std::set<std::string>& problems,
                       uint64_t now_ns) {
    group.widen(true);
    Transaction edit;
    // As ExitChooser has it.
    const bool was_proven =
        probe.way_out == WayOut::automatic && group.request().exit == ExitWay::return_probe;
    const ExitWay exit = was_proven ? ExitWay::instructions : group.request().exit;
    auto renewed = renew_group(probe, group, exit, view, edit);
    if (renewed)
        renewed = publish(probe, edit);
    if (renewed) {
        edit.commit();
        sink_.on_notice(now_ns, fmt::format("{}: probed in all processes that map {}, of which "
                                            "only the target's are counted, because {}",
                                            probe.info.text, group.path(), reason));
        return;
    }
    group.widen(false);
    tell_problem(problems, renewed.error().message(), now_ns);
}

void LiveProbes::note_execution() {
    for (auto& [id, probe] : probes_)
        probe.executed += probe.places.empty() && !probe.info.off;
}

bool LiveProbes::per_process() const {
    return std::ranges::any_of(probes_, [](const auto& probe) {
        return std::ranges::any_of(probe.second.groups, &PlaceGroup::per_process);
    });
}

void LiveProbes::tell_problem(std::set<std::string>& problems, const std::string& problem,
                              uint64_t now_ns) {
    if (problems.insert(problem).second && !problems_.contains(problem))
        sink_.on_notice(now_ns, problem);
}

void LiveProbes::forget_process(pid_t pid) {
    go_switches_.forget_process(pid);
    contexts_.forget_process(pid);
    for (auto& [id, probe] : probes_) {
        for (PlaceGroup& group : probe.groups)
            group.forget_process(pid);
    }
}

void LiveProbes::leave_others(const TargetView& view) {
    go_switches_.leave_others(view);
    for (auto& [id, probe] : probes_) {
        probe.executed = 0;
        for (PlaceGroup& group : probe.groups)
            group.leave_others(view);
    }
}

void LiveProbes::forget_withdrawn() {
    go_switches_.forget_withdrawn();
    for (auto& [id, probe] : probes_) {
        for (const PlaceGroup& group : probe.groups) {
            if (!group.withdrawn())
                continue;
            std::erase_if(probe.places, [&](const Place& place) {
                if (place.file != group.file())
                    return false;
                remove_spec(place.spec);
                functions_.remove(place.spec);
                return true;
            });
        }
        std::erase_if(probe.groups, [](const PlaceGroup& group) { return group.withdrawn(); });
    }
}

void LiveProbes::read_statistics(uint64_t now_ns, const ProbeStatistics::Told& told) {
    for (auto& [id, probe] : probes_) {
        if (probe.point || !statistics_.read(id, probe, now_ns, told))
            continue;
        Transaction edit;
        if (publish(probe, edit))
            edit.commit();
    }
}

std::vector<uint64_t> LiveProbes::link_ids() const {
    std::vector<uint64_t> ids;
    for (const auto& [id, probe] : probes_) {
        for (const PlaceGroup& group : probe.groups)
            group.add_link_ids(ids);
        for (const UniqueFd& link : probe.links)
            ids.push_back(link_id(link.get()));
    }
    exchanges_.add_link_ids(ids);
    go_switches_.add_link_ids(ids);
    return ids;
}

} // namespace auger
