// SPDX-License-Identifier: GPL-3.0-or-later
// sites: from where a function is called. The places come from the code, the counts from the probes
// that are on them.
#include "loader/probes/probe_pattern.h"
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "views/escape.h"
#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace auger {
namespace {

constexpr size_t site_rows = 100;

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool lies_within(const CallSiteInfo& site, const std::string& within) {
    if (within.empty())
        return true;
    for (std::string_view name : {std::string_view(site.caller), std::string_view(site.file),
                                  base_name(site.file), base_name(site.module)})
        if (!name.empty() && glob_match(within, name))
            return true;
    return false;
}

// The spec that times the site now; the newest when there are several.
std::optional<SpecId> spec_of(const Model& model, const CallSiteInfo& site) {
    const auto& specs = model.specs();
    for (auto i = static_cast<uint32_t>(specs.size()); i-- > 0;) {
        const auto probe = model.probes().find(specs[i].probe);
        if (specs[i].way_out.kind() == ObservedExit::Kind::call_site &&
            specs[i].module == site.module && specs[i].offset == site.offset &&
            probe != model.probes().end() && !probe->second.deleted)
            return SpecId{i};
    }
    return std::nullopt;
}

std::string place_of(const CallSiteInfo& site) {
    if (site.line)
        return fmt::format("{}:{}", escape_untrusted(base_name(site.file)), site.line);
    return fmt::format("{}+{:#x}", escape_untrusted(base_name(site.module)), site.offset);
}

struct Sites final : Command {
    ProbeRef target;    // as a probe names it
    std::string within; // glob of callers, files or modules; empty: everywhere

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto refreshed = session.backend().refresh(); !refreshed)
            return complaint_of(refreshed.error(), place.at);
        auto found = session.backend().find_call_sites(target.text);
        if (!found)
            return complaint_of(found.error(), target.at);
        std::erase_if(found->sites,
                      [&](const CallSiteInfo& site) { return !lies_within(site, within); });

        const std::string function = escape_untrusted(target.text);
        JsonObject object = json_reply(place.name);
        JsonObject rows = JsonObject::array(), skipped = JsonObject::array();
        Reply reply;
        reply.text = fmt::format("{} call site{} of {}{}\n", found->sites.size(),
                                 found->sites.size() == 1 ? "" : "s", function,
                                 within.empty() ? "" : " in " + escape_untrusted(within));
        size_t width = 5, timed = 0, shown = 0;
        for (const CallSiteInfo& site : found->sites)
            width = std::max(width, place_of(site).size());
        if (!found->sites.empty())
            reply.text += fmt::format("  {:>10}  {:>8}  {:>8}  {:<{}}  caller\n", "calls", "p50",
                                      "p99", "place", width);
        for (const CallSiteInfo& site : found->sites) {
            JsonObject row{{"function", escape_untrusted(site.function)},
                           {"caller", escape_untrusted(site.caller)},
                           {"file", escape_untrusted(site.file)},
                           {"line", site.line},
                           {"module", escape_untrusted(site.module)},
                           {"offset", site.offset},
                           {"kind", escape_untrusted(site.kind)}};
            std::string calls = "-", p50 = "-", p99 = "-";
            if (const auto spec = spec_of(session.model(), site)) {
                const CallStatistics statistics =
                    session.model().spec_statistics(*spec, session.settings().window);
                timed++;
                calls = format_count(statistics.entries);
                row["calls"] = statistics.entries;
                if (statistics.durations.total() > 0) {
                    p50 = format_duration(statistics.quantile(0.5));
                    p99 = format_duration(statistics.quantile(0.99));
                    row["p50"] = statistics.quantile(0.5);
                    row["p99"] = statistics.quantile(0.99);
                }
            }
            if (shown++ < site_rows)
                reply.text += fmt::format("  {:>10}  {:>8}  {:>8}  {:<{}}  {}  ({})\n", calls, p50,
                                          p99, place_of(site), width, escape_untrusted(site.caller),
                                          escape_untrusted(site.kind));
            rows.push_back(std::move(row));
        }
        if (shown > site_rows)
            reply.text += fmt::format("  ... and {} more; `in PATTERN` narrows them down\n",
                                      shown - site_rows);
        for (const std::string& text : found->skipped) {
            if (within.empty() && skipped.size() < site_rows)
                reply.text += fmt::format("  cannot be timed: {}\n", escape_untrusted(text));
            skipped.push_back(escape_untrusted(text));
        }
        if (timed < found->sites.size())
            reply.text += fmt::format("  \"time {}@*\" counts and times them all\n", function);
        object["function"] = function;
        object["sites"] = std::move(rows);
        object["skipped"] = std::move(skipped);
        reply.json = {json_line(object)};
        return reply;
    }
};

Parsed<CommandPtr> parse_sites(Arguments& arguments) {
    auto word = arguments.expect("a function");
    if (!word)
        return word.complaint();
    if (word->text.find('@') != std::string::npos)
        return Complaint{word->span, "this is a call site already",
                         fmt::format("write sites {}", word->text.substr(0, word->text.find('@'))),
                         Error::Kind::usage};
    auto command = std::make_unique<Sites>();
    command->target = probe_ref(*word);
    if (arguments.take_if("in")) {
        auto within = arguments.expect("a function, file or library");
        if (!within)
            return within.complaint();
        command->within = within->text;
    }
    return as_command(std::move(command));
}

} // namespace

CommandRow sites_command() {
    return {
        .name = "sites",
        .group = "Views",
        .usage = "sites FUNCTION [in PATTERN]",
        .summary = "from where a function is called, with the counts of those that are timed",
        .details = R"help(
Every instruction of the target's programs that calls FUNCTION, also through the PLT; of the libraries
when the programs have none. Calls through pointers cannot be seen. PATTERN (a glob) keeps call sites
whose caller, source file or library matches. Each is a probe, FUNCTION@FILE:LINE; FUNCTION@* is all
of them at once.)help",
        .examples = R"help(sites recv
sites recv in handle_*
sites memcpy in parser.cc)help",
        .arguments = {{.function = true}, {.words = "in"}, {.function = true}, {}},
        .parse = parse_sites,
    };
}

} // namespace auger
