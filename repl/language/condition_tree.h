// SPDX-License-Identifier: GPL-3.0-or-later
// The conditions of `only` as a tree: read by recursive descent, with every `not` pushed down to
// the terms at once, so that `or` and `and` change places below it. And its disjunctive normal
// form.
#pragma once

#include "repl/language/keep_condition.h"

namespace auger {

struct ConditionNode {
    enum class Kind { term, line, stack, both, either };
    Kind kind = Kind::term;
    bool negated = false; // of a term, line or stack
    uint32_t index = 0;   // likewise
    Span at;
    std::vector<ConditionNode> parts;

    bool has(Kind wanted) const;
};

// Reads `words`, which are the part `whole` of the line. Terms, lines and functions of stacks go
// into `out`.
Parsed<ConditionNode> read_condition(std::vector<Word> words, Span whole, KeepCondition& out);

// The clauses of several parts, all of which must hold; complains about `at` where there are none
// or too many.
Parsed<std::vector<Clause>> normal_form(std::vector<ConditionNode> parts, Span at);

} // namespace auger
