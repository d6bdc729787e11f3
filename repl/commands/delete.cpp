// SPDX-License-Identifier: GPL-3.0-or-later
// delete: probes go, with what needs them.
#include "repl/commands/commands.h"
#include "repl/language/probe_arguments.h"
#include "repl/session/edit_command.h"

#include <fmt/format.h>

namespace auger {
namespace {

struct Delete final : EditCommand {
    std::vector<ProbeRef> probes;

    Parsed<void> edit(SettingsEdit& edit) const override {
        for (const ProbeRef& ref : probes) {
            auto found = edit.existing(ref);
            if (!found)
                return found.complaint();
            edit.delete_probe((*found)->id);
        }
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        std::string names;
        for (const ProbeSetting& old : outcome.before.probes) {
            if (!outcome.now.find(old.id))
                names += (names.empty() ? "" : ", ") + probe_name(old);
        }
        return fmt::format("deleted {}", names);
    }
};

Parsed<CommandPtr> parse_delete(Arguments& arguments) {
    auto command = std::make_unique<Delete>();
    do {
        auto probe = parse_probe(arguments);
        if (!probe)
            return probe.complaint();
        command->probes.push_back(std::move(*probe));
    } while (!arguments.at_end());
    return as_command(std::move(command));
}

} // namespace

CommandRow delete_command() {
    return {
        .name = "delete",
        .group = "Calls",
        .usage = "delete PROBE...",
        .summary = "remove probes, by number or text",
        .details = R"help(
What they collected is kept. Ends a split on one of them, and an `only` or a raised rate that needs one.)help",
        .examples = R"help(delete 2
delete libc:recv)help",
        .arguments = {{.probe = true}},
        .parse = parse_delete,
    };
}

} // namespace auger
