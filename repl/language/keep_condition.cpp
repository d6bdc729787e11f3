// SPDX-License-Identifier: GPL-3.0-or-later
// What the kernel decides and what is known at a call's end are told apart at the top of the tree.
#include "repl/language/keep_condition.h"

#include "repl/language/condition_tree.h"
#include "repl/language/raw_words.h"

#include <fmt/format.h>

namespace auger {
namespace {

using Node = ConditionNode;

// The first line or term of the tree, in the order of the text.
Span first_of(const Node& node, Node::Kind wanted) {
    if (node.kind == wanted)
        return node.at;
    for (const Node& part : node.parts) {
        if (part.has(wanted))
            return first_of(part, wanted);
    }
    return node.at;
}

} // namespace

Parsed<std::string> source_line_of(const Word& word) {
    const size_t colon = word.text.rfind(':');
    const std::string_view digits =
        colon == std::string::npos ? "" : std::string_view(word.text).substr(colon + 1);
    if (colon == 0 || digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string_view::npos ||
        digits.find_first_not_of('0') == std::string_view::npos)
        return Complaint{word.span, fmt::format("\"{}\" is not a line", word.text),
                         "write FILE:LINE, as in main.cc:1290", Error::Kind::usage};
    return word.text;
}

Parsed<KeepCondition> parse_keep_condition(Arguments& arguments) {
    if (arguments.at_end())
        return arguments.missing("a condition");
    KeepCondition condition;
    condition.at = arguments.rest();
    condition.text = arguments.line().substr(condition.at.offset, condition.at.length);
    auto words = raw_words(arguments.line(), condition.at, Grouping::tokens);
    arguments.take_rest();
    if (!words)
        return words.complaint();
    auto tree = read_condition(std::move(*words), condition.at, condition);
    if (!tree)
        return tree.complaint();

    std::vector<Node> gate, lines;
    if (tree->kind == Node::Kind::both)
        gate = std::move(tree->parts);
    else
        gate.push_back(std::move(*tree));
    for (auto part = gate.begin(); part != gate.end();) {
        if (!part->has(Node::Kind::line)) {
            ++part;
            continue;
        }
        if (part->has(Node::Kind::term))
            return Complaint{first_of(*part, Node::Kind::line),
                             "a line is known only when the call ends, so it can be joined with "
                             "other conditions by \"and\" only",
                             "lines among themselves can be joined as you like",
                             Error::Kind::usage};
        lines.push_back(std::move(*part));
        part = gate.erase(part);
    }
    auto gate_clauses = normal_form(std::move(gate), condition.at);
    if (!gate_clauses)
        return gate_clauses.complaint();
    auto line_clauses = normal_form(std::move(lines), condition.at);
    if (!line_clauses)
        return line_clauses.complaint();
    condition.gate.clauses = std::move(*gate_clauses);
    condition.line_clauses = std::move(*line_clauses);
    return condition;
}

} // namespace auger
