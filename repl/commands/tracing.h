// SPDX-License-Identifier: GPL-3.0-or-later
// What `slow` and `trace` have in common: which calls of a probe are traced, and what is recorded
// of them.
#pragma once

#include "repl/language/probe_arguments.h"
#include "repl/session/edit_command.h"

#include <string>
#include <vector>

namespace auger {

struct Tracing final : EditCommand {
    ProbeRef probe;
    Threshold threshold;   // kind none: off
    std::string traced_if; // predicate, as typed; empty: none
    std::vector<std::string> show;
    bool show_default = true;

    bool off() const { return threshold.kind == Threshold::Kind::none; }

    Parsed<void> edit(SettingsEdit& edit) const override;
    std::string told(const Session&, const EditOutcome& outcome) const override;
    const ProbeRef* makes() const override { return &probe; }
    std::string next_step(const ProbeSetting& made) const override;
};

// `PROBE off`, or `PROBE [> THRESHOLD] [if PREDICATE] [show EXPRESSION, ...]`: with a threshold, or
// without, which is every call.
Parsed<CommandPtr> parse_tracing(Arguments& arguments, bool with_threshold);

inline constexpr std::string_view clause_words = "if show";
inline constexpr std::string_view clause_values = "arg0 arg1 arg2 ret errno trace span_id off";

} // namespace auger
