// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/joined_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace auger::remote {

namespace {

std::string add_host(std::string hosts, const std::string& host) {
    return hosts.empty() ? host : std::move(hosts) + ", " + host;
}

// Texts that all hosts say, as they are; others behind who says them.
template <typename T>
std::vector<std::string> joined_texts(const OfHosts<T>& all, std::vector<std::string> T::*texts) {
    std::vector<std::pair<std::string, OfHosts<bool>>> said; // by whom
    std::unordered_map<std::string_view, size_t> known;      // where in it
    for (const auto& [host, report] : all)
        for (const std::string& text : report.*texts) {
            const auto [found, is_new] = known.try_emplace(text, said.size());
            if (is_new)
                said.push_back({text, {}});
            OfHosts<bool>& by = said[found->second].second;
            if (by.empty() || by.back().first != host)
                by.emplace_back(host, true);
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

// What is the same of places on several hosts. A host that has such a place n times has it for the
// n-th time there.
using PlaceKey = std::tuple<std::string, std::string, uint64_t, std::string, std::string, size_t>;

class JoinedPlaces {
  public:
    void begin_host(const std::string& host) {
        host_ = host;
        times_.clear();
    }
    void add(const ProbePlace& place, const std::optional<ProbePlan::Cost>& cost) {
        PlaceKey key{place.function, place.module, place.offset, place.kind, place.note, 0};
        std::get<5>(key) = times_[key]++;
        const auto [known, is_new] = by_key_.try_emplace(std::move(key), places_.size());
        if (is_new) {
            places_.push_back({place, cost, {{host_, true}}});
            return;
        }
        JoinedPlace& joined = places_[known->second];
        joined.hosts.emplace_back(host_, true);
        if (cost && joined.cost) {
            joined.cost->least_ns = std::min(joined.cost->least_ns, cost->least_ns);
            joined.cost->most_ns = std::max(joined.cost->most_ns, cost->most_ns);
        }
    }
    const std::vector<JoinedPlace>& all() const { return places_; }

  private:
    std::string host_;
    std::map<PlaceKey, size_t> times_; // of the host's
    std::map<PlaceKey, size_t> by_key_;
    std::vector<JoinedPlace> places_;
};

// The first of each, in the order in which they come.
template <typename Report, typename One, typename KeyOf>
std::vector<One> joined_by_key(const OfHosts<Report>& all, std::vector<One> Report::*ones,
                               const KeyOf& key_of) {
    std::vector<One> joined;
    std::set<std::decay_t<decltype(key_of(std::declval<const One&>()))>> known;
    for (const auto& [host, report] : all)
        for (const One& one : report.*ones)
            if (known.insert(key_of(one)).second)
                joined.push_back(one);
    return joined;
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
    JoinedPlaces places;
    OfHosts<ProbeReport> reports;
    plan.costs_measured = true;
    plan.report.pending = true;
    for (const auto& [host, one] : all) {
        places.begin_host(host);
        for (size_t i = 0; i < one.report.places.size(); i++)
            places.add(one.report.places[i], i < one.costs.size() ? one.costs[i] : std::nullopt);
        plan.costs_measured &= one.costs_measured;
        plan.report.pending &= one.report.pending;
        reports.emplace_back(host, one.report);
    }
    for (const JoinedPlace& place : places.all()) {
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
    sites.sites = joined_by_key(all, &CallSites::sites, [](const CallSiteInfo& site) {
        return std::tuple(site.module, site.offset, site.caller, site.line);
    });
    sites.skipped = joined_texts(all, &CallSites::skipped);
    return sites;
}

UsdtProbes joined(const OfHosts<UsdtProbes>& all) {
    UsdtProbes probes;
    probes.probes = joined_by_key(all, &UsdtProbes::probes, [](const UsdtProbeInfo& probe) {
        return std::tuple(probe.module, probe.provider, probe.name);
    });
    probes.skipped = joined_texts(all, &UsdtProbes::skipped);
    return probes;
}

Listeners joined(const OfHosts<Listeners>& all) {
    Listeners listeners;
    listeners.places = joined_by_key(all, &Listeners::places, std::identity());
    std::ranges::sort(listeners.places);
    return listeners;
}

Tracepoints joined(const OfHosts<Tracepoints>& all) {
    Tracepoints found;
    found.tracepoints =
        joined_by_key(all, &Tracepoints::tracepoints, [](const TracepointInfo& tracepoint) {
            return std::pair(tracepoint.category, tracepoint.name);
        });
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
