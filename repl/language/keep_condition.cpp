// SPDX-License-Identifier: GPL-3.0-or-later
// What the kernel decides and what is known later are told apart at the top of the tree.
#include "repl/language/keep_condition.h"

#include "repl/language/condition_tree.h"
#include "repl/language/raw_words.h"

#include <fmt/format.h>

namespace auger {
namespace {

using Node = ConditionNode;

// The first such leaf of the tree, in the order of the text.
Span first_of(const Node& node, Node::Kind wanted) {
    if (node.kind == wanted)
        return node.at;
    for (const Node& part : node.parts) {
        if (part.has(wanted))
            return first_of(part, wanted);
    }
    return node.at;
}

struct KnownLater {
    Node::Kind kind;
    std::string_view complaint, hint; // where it is joined with what is known at other times
};
constexpr KnownLater lines{Node::Kind::line,
                           "a line is known only when the call ends, so it can be joined with "
                           "other conditions by \"and\" only",
                           "lines among themselves can be joined as you like"};
constexpr KnownLater stacks{Node::Kind::stack,
                            "what is on a stack is known only when it has names, so it can be "
                            "joined with other conditions by \"and\" only",
                            "functions on the stack can be joined among themselves as you like"};

// Takes the parts with such leaves, which have to hold beside the others, out of them.
Parsed<std::vector<Node>> take_parts(const KnownLater& known, std::vector<Node>& parts) {
    const auto has_others = [&](const Node& part) {
        for (const Node::Kind kind : {Node::Kind::term, Node::Kind::line, Node::Kind::stack})
            if (kind != known.kind && part.has(kind))
                return true;
        return false;
    };
    std::vector<Node> taken;
    for (auto part = parts.begin(); part != parts.end();) {
        if (!part->has(known.kind)) {
            ++part;
            continue;
        }
        if (has_others(*part))
            return Complaint{first_of(*part, known.kind), std::string(known.complaint),
                             std::string(known.hint), Error::Kind::usage};
        taken.push_back(std::move(*part));
        part = parts.erase(part);
    }
    return taken;
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

    std::vector<Node> gate;
    if (tree->kind == Node::Kind::both)
        gate = std::move(tree->parts);
    else
        gate.push_back(std::move(*tree));
    auto line_parts = take_parts(lines, gate);
    if (!line_parts)
        return line_parts.complaint();
    auto stack_parts = take_parts(stacks, gate);
    if (!stack_parts)
        return stack_parts.complaint();
    for (auto& [parts, clauses] : {std::pair{&gate, &condition.gate.clauses},
                                   std::pair{&*line_parts, &condition.line_clauses},
                                   std::pair{&*stack_parts, &condition.stacks.clauses}}) {
        auto found = normal_form(std::move(*parts), condition.at);
        if (!found)
            return found.complaint();
        *clauses = std::move(*found);
    }
    return condition;
}

} // namespace auger
