// SPDX-License-Identifier: GPL-3.0-or-later
// Rules for names and frames: rewrite, drop, fold, rules.
#include "repl/commands/table.h"

#include "repl/language/values.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

Complaint complaint_within(const Error& error, const Rule& rule, Span expression,
                           Span replacement) {
    // An expression is written as it is, between two '/'; a replacement perhaps in quotes.
    const bool of_expression = error.subject == rule.expression;
    Span at = of_expression ? expression : replacement;
    if (error.at && of_expression)
        at = {expression.offset + 1 + error.at->offset, error.at->length};
    else if (error.at && replacement.length == rule.replacement.size())
        at = {replacement.offset + error.at->offset, error.at->length};
    return {at, error.cause, error.hint, Error::Kind::usage};
}

Parsed<Command> parse_rule(Arguments& arguments, Rule::Kind kind) {
    auto expression = arguments.expect("an expression");
    if (!expression)
        return expression.complaint();
    if (!expression->expression)
        return Complaint{expression->span, "an expression stands between two /, without quotes",
                         expression->quoted ? "blanks may stand in it"
                                            : fmt::format("write /{}/", expression->text),
                         Error::Kind::usage};
    if (expression->text.empty())
        return Complaint{expression->span, "an empty expression fits everywhere", "",
                         Error::Kind::usage};
    Rule rule{kind, expression->text, {}};
    Span replacement_at = expression->span;
    if (kind != Rule::Kind::drop_frame) {
        auto replacement = arguments.expect("what to write in its place");
        if (!replacement)
            return replacement.complaint();
        rule.replacement = replacement->text;
        replacement_at = replacement->span;
    }
    if (auto rules = Rules::compile({rule}); !rules)
        return complaint_within(rules.error(), rule, expression->span, replacement_at);
    return Command(RuleCommand{std::move(rule)});
}

Parsed<Command> parse_rewrite(Arguments& arguments) {
    const std::vector<std::string> choices{"thread", "frame"};
    auto what = arguments.expect_choice("thread or frame", choices);
    if (!what)
        return what.complaint();
    return parse_rule(arguments,
                      *what == 0 ? Rule::Kind::rewrite_thread : Rule::Kind::rewrite_frame);
}

Parsed<Command> parse_drop(Arguments& arguments) {
    const std::vector<std::string> choices{"frame"};
    if (auto what = arguments.expect_choice("frame", choices); !what)
        return what.complaint();
    return parse_rule(arguments, Rule::Kind::drop_frame);
}

Parsed<Command> parse_fold(Arguments& arguments) {
    const std::vector<std::string> choices{"recursion"};
    if (auto what = arguments.expect_choice("recursion", choices); !what)
        return what.complaint();
    return Command(RuleCommand{{Rule::Kind::fold_recursion, {}, {}}});
}

Parsed<Command> parse_rules(Arguments& arguments) {
    RulesCommand command;
    if (arguments.at_end())
        return Command(std::move(command));
    const std::vector<std::string> choices{"off"};
    if (auto off = arguments.expect_choice("off", choices); !off)
        return off.complaint();
    command.kind = RulesCommand::Kind::off;
    while (!arguments.at_end()) {
        const Word& word = arguments.take();
        auto number = count_of(word);
        if (!number)
            return number.complaint();
        command.numbers.push_back({static_cast<size_t>(*number), word.span});
    }
    return Command(std::move(command));
}

} // namespace

std::vector<CommandRow> rule_commands() {
    return {
        {"rewrite",
         "",
         "Rules",
         "rewrite frame|thread /EXPRESSION/ REPLACEMENT",
         "show functions or threads under other names",
         "EXPRESSION is a regular expression as RE2 reads it; it minds case, unless it begins "
         "with\n"
         "(?i). Every match in a name is replaced; \\1 to \\9 are its groups in parentheses, \\0 "
         "all\n"
         "of it. Names are whole here, with arguments and templates, as `flame --folded` shows "
         "them.\n"
         "Functions of one file that are called alike then are one, and so are threads where they\n"
         "are told apart by name. A process is called as its main thread.\n\n"
         "Rules are about what is shown and exported, never about what is collected: without them\n"
         "everything is as it was. They apply in their order, `fold recursion` last, to every "
         "view\n"
         "and export; exports name them, `rules` lists them. Probes, `filter` and `only` mean the\n"
         "names that the program has.",
         "rewrite thread /raftstore-\\d+/ raftstore\n"
         "rewrite frame /std::__(1|cxx11)::/ std::\nrewrite frame /^(\\w+)\\(.*/ \\1",
         {{.words = "frame thread"}, {}},
         parse_rewrite},
        {"drop",
         "",
         "Rules",
         "drop frame /EXPRESSION/",
         "leave functions out of stacks",
         "Functions whose name, as the rules before have made it, EXPRESSION fits somewhere "
         "disappear from\n"
         "stacks; their own time goes to the caller that is left. Totals stay. More: `help "
         "rewrite`.",
         "drop frame /^__libc_start/\ndrop frame /^std::(__invoke|function<)/",
         {{.words = "frame"}, {}},
         parse_drop},
        {"fold",
         "",
         "Rules",
         "fold recursion",
         "show a function that calls itself as one frame",
         "A function directly inside of itself, as stacks are when all other rules have applied, "
         "is "
         "one\n"
         "frame: a;f;f;f;b becomes a;f;b, but a;f;g;f stays (`drop frame /^g$/` makes it a;f).\n"
         "Flames always show it so; this makes it so in lists of frames and exports.",
         "fold recursion",
         {{.words = "recursion"}, {}},
         parse_fold},
        {"rules",
         "",
         "Rules",
         "rules | rules off [NUMBER...]",
         "list the rules in force, or end some or all of them",
         "What was collected shows again as it is.",
         "rules\nrules off 2\nrules off",
         {{.words = "off"}, {}},
         parse_rules},
    };
}

} // namespace auger
