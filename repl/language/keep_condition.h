// SPDX-License-Identifier: GPL-3.0-or-later
// The conditions of `only` and of a raised rate: what is kept.
//
//     handle > p95 and not (comm logger or tid 4711)      in handle and at main.cc:1290
//
// They become disjunctive normal form in three parts: what the kernel decides when something
// happens, lines, which are known only when the enclosing call ends, and stacks, which are known
// once their functions have names.
#pragma once

#include "loader/stream/events.h"
#include "repl/language/arguments.h"
#include "repl/language/condition.h"
#include "views/model/stack_condition.h"

#include <optional>
#include <string>
#include <vector>

namespace auger {

struct KeepCondition {
    std::string text; // as typed
    Span at;
    Gate gate; // ids of probes are still to be filled in
    // Of the gate's terms, the probe as the user named it; nothing for terms without one.
    std::vector<std::optional<ProbeRef>> probes;
    std::vector<std::string> lines; // "main.cc:1290"
    std::vector<Clause> line_clauses;
    Span first_line; // where the first of them stands
    StackCondition stacks;
    Span first_stack; // likewise
};

// Reads the rest of the command.
Parsed<KeepCondition> parse_keep_condition(Arguments& arguments);

// "FILE:LINE"; complains otherwise.
Parsed<std::string> source_line_of(const Word& word);

} // namespace auger
