// SPDX-License-Identifier: GPL-3.0-or-later
// What the probes of a call cost the thread that makes it is known before anything is attached; how
// often it is called is not. Samples bound that: calls that take d of CPU time on average, while
// the target spends the share s of its CPU time in them, come s / d times in a second of it. So
// probes of cost c take the share s c / d, which is at most L as long as d >= s c / L.
#include "repl/commands/plan_probe.h"

#include "repl/language/syscall_probe.h"
#include "repl/session/probe_report.h"
#include "repl/session/session.h"
#include "views/escape.h"
#include "views/format.h"
#include "views/model/time_in_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace auger {
namespace {

constexpr size_t most_rows = 100;

std::string cost_text(const std::optional<ProbePlan::Cost>& cost) {
    if (!cost)
        return "-";
    const std::string least = format_duration(static_cast<double>(cost->least_ns));
    return cost->least_ns == cost->most_ns
               ? least
               : fmt::format("{} to {}", least,
                             format_duration(static_cast<double>(cost->most_ns)));
}

struct PlanProbe final : Command {
    ProbeRef probe;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        // It comes before the probe, so a command that has not begun does not begin for it.
        if (auto refreshed = session.refresh_view(); !refreshed)
            return complaint_of(refreshed.error(), place.at);
        auto plan = session.backend().plan_probe(probe.text);
        if (!plan)
            return complaint_of(plan.error(), probe.at);
        const size_t places = plan->report.places.size();
        std::vector<std::string> names;
        for (const ProbePlace& one : plan->report.places)
            names.push_back(one.function);
        const TimeInFunctions time =
            time_in_functions(session.model(), session.settings().window, names);
        const bool sampled = time.cpu_ns > 0;
        const double limit = session.settings().overhead.warn_percent() / 100;
        double shortest_ns = 0;

        JsonObject object = json_reply(place.name);
        add_report(object, plan->report);
        Reply reply;
        reply.text = fmt::format("{} would be timed at {} place{}; nothing is attached\n",
                                 escape_untrusted(probe.text), places, places == 1 ? "" : "s");
        if (places > 0)
            reply.text += fmt::format("  {:>7}  {:<20}  place\n", "cpu", "probes of a call");
        for (size_t i = 0; i < places; i++) {
            const auto& cost = plan->costs[i];
            const double share = sampled ? time.ns[i] / time.cpu_ns : 0;
            if (cost)
                shortest_ns += share * static_cast<double>(cost->most_ns) / limit;
            JsonObject& row = object["places"][i];
            row.erase("id");
            row["least"] = cost ? JsonObject(cost->least_ns) : JsonObject();
            row["most"] = cost ? JsonObject(cost->most_ns) : JsonObject();
            row["share"] = sampled ? JsonObject(share) : JsonObject();
            if (i < most_rows)
                reply.text +=
                    fmt::format("  {:>7}  {:<20}  {}\n", sampled ? format_percent(share) : "-",
                                cost_text(cost), place_text(plan->report.places[i]));
        }
        if (places > most_rows)
            reply.text += fmt::format("  ... and {} more\n", places - most_rows);
        plan->report.places.clear();
        reply.text += report_lines(plan->report, most_rows);
        if (std::ranges::any_of(plan->costs, [](const auto& cost) { return cost.has_value(); }))
            reply.text += advice(shortest_ns, limit, sampled);
        if (!plan->costs_measured)
            reply.text += "  What probes cost could not be measured here: these are another "
                          "machine's figures.\n";
        object["probe"] = escape_untrusted(probe.text);
        object["measured"] = plan->costs_measured;
        object["limit"] = limit;
        object["shortest"] = shortest_ns > 0 ? JsonObject(shortest_ns) : JsonObject();
        reply.json = {json_line(object)};
        return reply;
    }

    static std::string advice(double shortest_ns, double limit, bool sampled) {
        if (!sampled)
            return "  \"sample 99\" first: then it is known how short its calls may be\n";
        if (shortest_ns <= 0)
            return "  No sample is in it: it takes little CPU time, or is seldom called.\n";
        return fmt::format("  Its probes take at most {} of the target's CPU time while its calls "
                           "take {} of it or more on average.\n",
                           format_percent(limit), format_duration(shortest_ns));
    }
};

} // namespace

Parsed<CommandPtr> parse_plan_probe(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    if (probe->number)
        return Complaint{probe->at, "this probe is there already",
                         "\"overhead\" shows what it costs", Error::Kind::usage};
    if (is_syscall_probe(probe->text))
        return Complaint{probe->at, "what probes at tracepoints cost is not known beforehand",
                         "\"time " + probe->text + "\", then \"overhead\"", Error::Kind::usage};
    auto command = std::make_unique<PlanProbe>();
    command->probe = std::move(*probe);
    return as_command(std::move(command));
}

} // namespace auger
