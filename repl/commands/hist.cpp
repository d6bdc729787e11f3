// SPDX-License-Identifier: GPL-3.0-or-later
// hist: the distribution of a probe's durations.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"

namespace auger {
namespace {

struct Hist final : Command {
    ProbeRef probe;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        const auto id = shown_probe(session, probe);
        if (!id)
            return id.complaint();
        const Model& model = session.model();
        return show(
            session, place, [&] { return hist_view(model, session.view_options(), *id); },
            [&] { return one(hist_json(model, session.settings().window, *id)); });
    }
};

Parsed<CommandPtr> parse_hist(Arguments& arguments) {
    auto word = arguments.expect("a probe");
    if (!word)
        return word.complaint();
    auto command = std::make_unique<Hist>();
    command->probe = probe_ref(*word);
    return as_command(std::move(command));
}

} // namespace

CommandRow hist_command() {
    return {
        .name = "hist",
        .group = "Views",
        .usage = "hist PROBE",
        .summary = "distribution of a probe's durations, with percentiles",
        .examples = R"help(hist handle
hist 1)help",
        .arguments = {{.probe = true}, {}},
        .parse = parse_hist,
    };
}

} // namespace auger
