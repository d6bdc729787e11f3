// SPDX-License-Identifier: GPL-3.0-or-later
// hist: the distribution of a probe's durations.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/listing.h"

namespace auger {
namespace {

struct Hist final : Command {
    ProbeRef probe;
    std::optional<HostChoice> host;
    bool by_host = false;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        ClassFilter filter;
        filter.host = host;
        if (auto complaint = not_ready(session, place, filter))
            return *complaint;
        const auto id = shown_probe(session, probe);
        if (!id)
            return id.complaint();
        const Model& model = session.model();
        return show(
            session, place,
            [&] {
                return by_host ? hist_by_host_view(model, session.view_options(), *id)
                               : hist_view(model, session.view_options(), *id, host);
            },
            [&] { return one(hist_json(model, session.settings().window, *id, host, by_host)); });
    }
};

Parsed<CommandPtr> parse_hist(Arguments& arguments) {
    auto word = arguments.expect("a probe");
    if (!word)
        return word.complaint();
    auto command = std::make_unique<Hist>();
    command->probe = probe_ref(*word);
    if (arguments.take_if("by")) {
        if (!arguments.take_if("host"))
            return arguments.missing("`host`");
        command->by_host = true;
    } else if (!arguments.at_end()) {
        const size_t at = arguments.position();
        auto filter = parse_class(arguments);
        if (!filter)
            return filter.complaint();
        if (!filter->host || filter->of_calls())
            return Complaint{arguments.span_of(at), "a histogram is of all calls, or of a host's",
                             "write hist PROBE host=web1, or hist PROBE by host",
                             Error::Kind::usage};
        command->host = filter->host;
    }
    return as_command(std::move(command));
}

} // namespace

CommandRow hist_command() {
    return {
        .name = "hist",
        .group = "Views",
        .usage = "hist PROBE [by host | host=HOST]",
        .summary = "distribution of a probe's durations, with percentiles",
        .details = R"help(
Of several hosts (or recordings of several machines) percentiles are those of all calls: histograms
are added up, never percentiles. `by host` shows a row for each, host=HOST one alone.)help",
        .examples = R"help(hist handle
hist 1
hist handle by host
hist handle host=web3)help",
        .arguments = {{.probe = true}, {.words = "by"}, {.words = "host"}, {}},
        .parse = parse_hist,
    };
}

} // namespace auger
