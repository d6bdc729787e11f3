// SPDX-License-Identifier: GPL-3.0-or-later
// rewrite, drop, fold, rules: rules for names and frames.
#include "repl/commands/commands.h"
#include "repl/language/values.h"
#include "repl/session/edit_command.h"
#include "repl/session/session.h"
#include "views/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

constexpr SettingRow rules_setting{
    .same = same_members<&Settings::rules>,
    .spell =
        [](const Settings& settings, std::vector<std::string>& lines) {
            for (const Rule& rule : settings.rules)
                lines.push_back(spell_rule(rule));
        },
};

struct AddRule final : EditCommand {
    Rule rule;

    bool needs_rules() const override { return false; }
    Parsed<void> edit(SettingsEdit& edit) const override {
        std::vector<Rule>& rules = edit.settings.rules;
        if (rule.kind != Rule::Kind::fold_recursion ||
            std::ranges::find(rules, rule) == rules.end())
            rules.push_back(rule);
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        if (outcome.now.rules == outcome.before.rules)
            return "this rule is in force already";
        return fmt::format("rule {}: {}", outcome.now.rules.size(),
                           escape_untrusted(spell_rule(rule)));
    }
};

struct EndRules final : EditCommand {
    struct Number {
        size_t number; // as `rules` shows it, from 1
        Span at;
    };
    std::vector<Number> numbers; // all where there are none

    Parsed<void> edit(SettingsEdit& edit) const override {
        const std::vector<Rule> rules = std::exchange(edit.settings.rules, {});
        for (const Number& one : numbers)
            if (one.number < 1 || one.number > rules.size())
                return Complaint{one.at, fmt::format("there is no rule {}", one.number),
                                 "\"rules\" lists them", Error::Kind::failed};
        for (size_t i = 0; i < rules.size() && !numbers.empty(); i++)
            if (std::ranges::find(numbers, i + 1, &Number::number) == numbers.end())
                edit.settings.rules.push_back(rules[i]);
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        const size_t left = outcome.now.rules.size();
        if (left == 0)
            return outcome.before.rules.empty() ? "there were no rules" : "no rules";
        return fmt::format("{} rule{} left", left, left == 1 ? "" : "s");
    }
};

struct ShowRules final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        JsonObject object = json_reply(place.name);
        JsonObject rules = JsonObject::array();
        std::string lines;
        size_t number = 0;
        for (const Rule& rule : session.settings().rules) {
            const std::string text = escape_untrusted(spell_rule(rule));
            lines += fmt::format("{:>3}  {}\n", ++number, text);
            rules.push_back(text);
        }
        object["rules"] = std::move(rules);
        if (lines.empty())
            return Reply::message("no rules", std::move(object));
        return Reply{std::move(lines), json_line(object)};
    }
};

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

Parsed<CommandPtr> parse_rule(Arguments& arguments, Rule::Kind kind) {
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
    auto command = std::make_unique<AddRule>();
    Rule& rule = command->rule = {kind, expression->text, {}};
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
    return as_command(std::move(command));
}

Parsed<CommandPtr> parse_rewrite(Arguments& arguments) {
    const std::vector<std::string> choices{"thread", "frame"};
    auto what = arguments.expect_choice("thread or frame", choices);
    if (!what)
        return what.complaint();
    return parse_rule(arguments,
                      *what == 0 ? Rule::Kind::rewrite_thread : Rule::Kind::rewrite_frame);
}

Parsed<CommandPtr> parse_drop(Arguments& arguments) {
    const std::vector<std::string> choices{"frame"};
    if (auto what = arguments.expect_choice("frame", choices); !what)
        return what.complaint();
    return parse_rule(arguments, Rule::Kind::drop_frame);
}

Parsed<CommandPtr> parse_fold(Arguments& arguments) {
    const std::vector<std::string> choices{"recursion"};
    if (auto what = arguments.expect_choice("recursion", choices); !what)
        return what.complaint();
    auto command = std::make_unique<AddRule>();
    command->rule.kind = Rule::Kind::fold_recursion;
    return as_command(std::move(command));
}

Parsed<CommandPtr> parse_rules(Arguments& arguments) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowRules>());
    const std::vector<std::string> choices{"off"};
    if (auto off = arguments.expect_choice("off", choices); !off)
        return off.complaint();
    auto command = std::make_unique<EndRules>();
    while (!arguments.at_end()) {
        const Word& word = arguments.take();
        auto number = count_of(word);
        if (!number)
            return number.complaint();
        command->numbers.push_back({static_cast<size_t>(*number), word.span});
    }
    return as_command(std::move(command));
}

} // namespace

CommandRow rewrite_command() {
    return {
        .name = "rewrite",
        .group = "Rules",
        .usage = "rewrite frame|thread /EXPRESSION/ REPLACEMENT",
        .summary = "show functions or threads under other names",
        .details = R"help(
EXPRESSION is a regular expression of RE2, case-sensitive unless it begins with (?i). Every match in
a name is replaced; \1 to \9 are its groups, \0 the whole match. Names are whole here, with
arguments and template arguments, as `flame --folded` prints them. Functions of one file that get the
same name are merged, and so are threads where threads are grouped by name. A process is called as
its main thread.

Rules change what is shown and exported, never what is collected. They apply in their order, `fold
recursion` last, to every view and export; exports name them, `rules` lists them. Probes, `filter`
and `only` mean the names that the program has.)help",
        .examples = R"help(rewrite thread /raftstore-\d+/ raftstore
rewrite frame /std::__(1|cxx11)::/ std::
rewrite frame /^(\w+)\(.*/ \1)help",
        .arguments = {{.words = "frame thread"}, {}},
        .parse = parse_rewrite,
        .settings = {&rules_setting},
    };
}

CommandRow drop_command() {
    return {
        .name = "drop",
        .group = "Rules",
        .usage = "drop frame /EXPRESSION/",
        .summary = "leave functions out of stacks",
        .details = R"help(
Functions whose name, as the rules before have made it, matches EXPRESSION somewhere disappear from
stacks. Their self time goes to the caller that is left, so totals stay. More: "help rewrite".)help",
        .examples = R"help(drop frame /^__libc_start/
drop frame /^std::(__invoke|function<)/)help",
        .arguments = {{.words = "frame"}, {}},
        .parse = parse_drop,
    };
}

CommandRow fold_command() {
    return {
        .name = "fold",
        .group = "Rules",
        .usage = "fold recursion",
        .summary = "show a function that calls itself as one frame",
        .details = R"help(
A function directly inside itself, as stacks are when all other rules have been applied, becomes one
frame: a;f;f;f;b becomes a;f;b, but a;f;g;f stays (`drop frame /^g$/` makes it a;f). Flames are always
drawn so; this makes it so in lists of frames and exports.)help",
        .examples = "fold recursion",
        .arguments = {{.words = "recursion"}, {}},
        .parse = parse_fold,
    };
}

CommandRow rules_command() {
    return {
        .name = "rules",
        .group = "Rules",
        .usage = "rules | rules off [NUMBER...]",
        .summary = "list the rules in force, or end some or all of them",
        .details = R"help(
Without a rule, what was collected shows again under its own names.)help",
        .examples = R"help(rules
rules off 2
rules off)help",
        .arguments = {{.words = "off"}, {}},
        .parse = parse_rules,
    };
}

} // namespace auger
