// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/joined_reports.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger::remote {

namespace {

std::string add_host(std::string hosts, const std::string& host) {
    return hosts.empty() ? host : std::move(hosts) + ", " + host;
}

// Texts that all hosts say, as they are; others behind who says them.
template <typename T>
std::vector<std::string> joined_texts(const OfHosts<T>& all, std::vector<std::string> T::*texts) {
    std::vector<std::pair<std::string, OfHosts<bool>>> said; // by whom
    for (const auto& [host, report] : all)
        for (const std::string& text : report.*texts) {
            auto known =
                std::ranges::find(said, text, &std::pair<std::string, OfHosts<bool>>::first);
            if (known == said.end())
                known = said.insert(said.end(), {text, {}});
            if (known->second.empty() || known->second.back().first != host)
                known->second.emplace_back(host, true);
        }
    std::vector<std::string> joined;
    for (const auto& [text, by] : said) {
        std::string hosts;
        for (const auto& [host, yes] : by)
            hosts = add_host(std::move(hosts), host);
        joined.push_back(by.size() == all.size() ? text : hosts + ": " + text);
    }
    return joined;
}

struct JoinedPlace {
    ProbePlace place;
    std::optional<ProbePlan::Cost> cost;
    OfHosts<bool> hosts;
};

void add_place(std::vector<JoinedPlace>& places, const std::string& host, const ProbePlace& place,
               const std::optional<ProbePlan::Cost>& cost) {
    const auto is_same = [&](const JoinedPlace& other) {
        const ProbePlace& one = other.place;
        return one.function == place.function && one.module == place.module &&
               one.offset == place.offset && one.kind == place.kind && one.note == place.note &&
               other.hosts.back().first != host;
    };
    const auto known = std::ranges::find_if(places, is_same);
    if (known == places.end()) {
        places.push_back({place, cost, {{host, true}}});
        return;
    }
    known->hosts.emplace_back(host, true);
    if (cost && known->cost) {
        known->cost->least_ns = std::min(known->cost->least_ns, cost->least_ns);
        known->cost->most_ns = std::max(known->cost->most_ns, cost->most_ns);
    }
}

ProbePlace named_place(const JoinedPlace& joined, size_t hosts) {
    ProbePlace place = joined.place;
    if (joined.hosts.size() == hosts)
        return place;
    std::string on;
    for (const auto& [host, yes] : joined.hosts)
        on = add_host(std::move(on), host);
    place.note += (place.note.empty() ? "on " : ", on ") + on;
    return place;
}

} // namespace

ProbePlan joined(const OfHosts<ProbePlan>& all) {
    ProbePlan plan;
    std::vector<JoinedPlace> places;
    OfHosts<ProbeReport> reports;
    plan.costs_measured = true;
    plan.report.pending = true;
    for (const auto& [host, one] : all) {
        for (size_t i = 0; i < one.report.places.size(); i++)
            add_place(places, host, one.report.places[i],
                      i < one.costs.size() ? one.costs[i] : std::nullopt);
        plan.costs_measured &= one.costs_measured;
        plan.report.pending &= one.report.pending;
        reports.emplace_back(host, one.report);
    }
    for (const JoinedPlace& place : places) {
        plan.report.places.push_back(named_place(place, all.size()));
        plan.costs.push_back(place.cost);
    }
    plan.report.skipped = joined_texts(reports, &ProbeReport::skipped);
    plan.report.notes = joined_texts(reports, &ProbeReport::notes);
    return plan;
}

ProbeReport joined(const OfHosts<ProbeReport>& all) {
    OfHosts<ProbePlan> plans;
    for (const auto& [host, report] : all) {
        plans.emplace_back(host, ProbePlan{});
        plans.back().second.report = report;
    }
    return joined(plans).report;
}

CallSites joined(const OfHosts<CallSites>& all) {
    CallSites sites;
    for (const auto& [host, one] : all)
        for (const CallSiteInfo& site : one.sites)
            if (std::ranges::none_of(sites.sites, [&](const CallSiteInfo& other) {
                    return other.module == site.module && other.offset == site.offset &&
                           other.caller == site.caller && other.line == site.line;
                }))
                sites.sites.push_back(site);
    sites.skipped = joined_texts(all, &CallSites::skipped);
    return sites;
}

UsdtProbes joined(const OfHosts<UsdtProbes>& all) {
    UsdtProbes probes;
    for (const auto& [host, one] : all)
        for (const UsdtProbeInfo& probe : one.probes)
            if (std::ranges::none_of(probes.probes, [&](const UsdtProbeInfo& other) {
                    return other.module == probe.module && other.provider == probe.provider &&
                           other.name == probe.name;
                }))
                probes.probes.push_back(probe);
    probes.skipped = joined_texts(all, &UsdtProbes::skipped);
    return probes;
}

Tracepoints joined(const OfHosts<Tracepoints>& all) {
    Tracepoints found;
    for (const auto& [host, one] : all)
        for (const TracepointInfo& tracepoint : one.tracepoints)
            if (std::ranges::none_of(found.tracepoints, [&](const TracepointInfo& other) {
                    return other.category == tracepoint.category && other.name == tracepoint.name;
                }))
                found.tracepoints.push_back(tracepoint);
    std::ranges::sort(found.tracepoints, {}, [](const TracepointInfo& tracepoint) {
        return std::pair(tracepoint.category, tracepoint.name);
    });
    return found;
}

UnwindStatus joined(const OfHosts<UnwindStatus>& all) {
    UnwindStatus status;
    for (const auto& [host, one] : all) {
        status.modules += one.modules;
        status.bytes += one.bytes;
    }
    status.pending = joined_texts(all, &UnwindStatus::pending);
    status.notes = joined_texts(all, &UnwindStatus::notes);
    return status;
}

ReaderStatus joined(const OfHosts<ReaderStatus>& all) {
    ReaderStatus status;
    for (const auto& [host, one] : all) {
        status.limit += one.limit;
        for (const auto& [service, held] : one.services) {
            status.services[service].processes += held.processes;
            status.services[service].bytes += held.bytes;
        }
    }
    return status;
}

SymbolProgress joined(const OfHosts<SymbolProgress>& all) {
    SymbolProgress progress;
    for (const auto& [host, one] : all) {
        progress.pending += one.pending;
        progress.bytes += one.bytes;
    }
    progress.modules = joined_texts(all, &SymbolProgress::modules);
    return progress;
}

std::vector<Capability> joined(const OfHosts<std::vector<Capability>>& all) {
    std::vector<Capability> capabilities;
    for (const auto& [host, one] : all)
        for (Capability capability : one) {
            if (all.size() > 1)
                capability.name = host + ": " + capability.name;
            capabilities.push_back(std::move(capability));
        }
    return capabilities;
}

Error joined(const OfHosts<Error>& all, size_t asked) {
    Error error = all.front().second;
    if (asked == 1)
        return error;
    const bool alike = std::ranges::all_of(
        all, [&](const auto& other) { return other.second.message() == error.message(); });
    if (alike && all.size() == asked)
        return error;
    std::string cause;
    for (const auto& [host, one] : all)
        cause += fmt::format("{}{}: {}", cause.empty() ? "" : "; ", host, one.cause);
    error.cause = cause;
    if (all.size() < asked)
        error.hint += std::string(error.hint.empty() ? "" : "; ") + "nothing was changed on any "
                                                                    "host";
    return error;
}

} // namespace auger::remote
