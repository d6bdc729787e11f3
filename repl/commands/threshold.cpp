// SPDX-License-Identifier: GPL-3.0-or-later
// threshold: from which duration on calls of a probe are slow.
#include "repl/commands/commands.h"
#include "repl/language/probe_arguments.h"
#include "repl/session/edit_command.h"
#include "views/spell.h"

#include <fmt/format.h>

namespace auger {
namespace {

struct SetThreshold final : EditCommand {
    ProbeRef probe;
    Threshold threshold;

    Parsed<void> edit(SettingsEdit& edit) const override {
        auto found = edit.existing(probe);
        if (!found)
            return found.complaint();
        ProbeSetting& timed = **found;
        SplitSetting& split = edit.settings.split;
        const bool traced = timed.slow.kind != Threshold::Kind::none;
        if (split.active && split.probe == timed.id) {
            split.threshold = threshold;
            if (traced)
                edit.add_note(fmt::format("slow calls are still traced above {}",
                                          spell_threshold(timed.slow)));
        } else if (traced) {
            timed.slow = threshold;
        } else {
            return Complaint{probe.at,
                             fmt::format("\"{}\" is only timed: it has no threshold", timed.text),
                             fmt::format("use split {0} > {1}, or slow {0} > {1}", timed.text,
                                         spell_threshold(threshold)),
                             Error::Kind::failed};
        }
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        const SplitSetting& split = outcome.now.split;
        return fmt::format("{} {} > {}",
                           split.active && split.probe == outcome.probe->id ? "split by"
                                                                            : "tracing calls of",
                           probe_name(*outcome.probe), spell_threshold(threshold));
    }
};

Parsed<CommandPtr> parse_threshold(Arguments& arguments) {
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    auto threshold = parse_threshold_value(arguments, *probe);
    if (!threshold)
        return threshold.complaint();
    auto command = std::make_unique<SetThreshold>();
    command->probe = std::move(*probe);
    command->threshold = *threshold;
    return as_command(std::move(command));
}

} // namespace

CommandRow threshold_command() {
    return {
        .name = "threshold",
        .group = "Calls",
        .usage = "threshold PROBE PERCENTILE | DURATION",
        .summary = "move the threshold of a split (or of slow calls)",
        .details = R"help(
What was collected is classified again at once. For a probe that is not split on, moves the threshold
of its `slow`.)help",
        .examples = R"help(threshold handle p99
threshold 1 10ms)help",
        .arguments = {{.probe = true}, {.words = threshold_words}, {}},
        .parse = parse_threshold,
    };
}

} // namespace auger
