// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/rules.h"

#include "views/spell.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>

namespace auger {

namespace {

constexpr size_t longest_expression = 1000;
constexpr size_t longest_replacement = 1000;
constexpr int64_t most_memory = 1 << 20; // of one expression

Error wrong(const std::string& subject, std::string cause, std::string hint,
            std::optional<Error::Range> at) {
    return {"rule", subject, std::move(cause), std::move(hint), Error::Kind::usage, at};
}

// The part of an expression that RE2 complains about; nothing where that is all of it.
std::optional<Error::Range> place_of(const std::string& part, const std::string& expression) {
    const size_t at = part.empty() ? std::string::npos : expression.find(part);
    if (at == std::string::npos)
        return std::nullopt;
    return Error::Range{at, part.size()};
}

// The `\` of a replacement that stands before neither a digit nor another one, or before the number
// of a group that there is not.
std::optional<Error::Range> bad_reference(const std::string& text, int groups) {
    for (size_t at = text.find('\\'); at != std::string::npos; at = text.find('\\', at + 2)) {
        const char next = at + 1 < text.size() ? text[at + 1] : '\0';
        const bool is_group = next >= '0' && next <= '9' && next - '0' <= groups;
        if (!is_group && next != '\\')
            return Error::Range{at, std::min<size_t>(2, text.size() - at)};
    }
    return std::nullopt;
}

// Bare where it reads back so: behind an expression a `\` stays as it is.
std::string spell_replacement(const std::string& text) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_:.@/~-\\").find(c) != std::string_view::npos;
    };
    return !text.empty() && std::ranges::all_of(text, plain) ? text : quote_word(text);
}

bool rewrites(Rule::Kind kind) {
    return kind == Rule::Kind::rewrite_thread || kind == Rule::Kind::rewrite_frame;
}

} // namespace

struct Rules::Compiled {
    explicit Compiled(const std::string& expression) : regex(expression, options()) {}

    static RE2::Options options() {
        RE2::Options options;
        options.set_log_errors(false); // they would go to the terminal
        options.set_max_mem(most_memory);
        return options;
    }
    static Result<void> check(const Rule& rule, const RE2& regex);
    void rewrite(std::string& name, const std::string& replacement) const {
        RE2::GlobalReplace(&name, regex, replacement);
        if (name.size() > longest_name)
            name.resize(longest_name);
    }
    bool matches(const std::string& name) const { return RE2::PartialMatch(name, regex); }

    RE2 regex;
};

Result<void> Rules::Compiled::check(const Rule& rule, const RE2& regex) {
    if (!regex.ok())
        return wrong(rule.expression, regex.error(),
                     "put a \\ before a character that stands for itself",
                     place_of(regex.error_arg(), rule.expression));
    if (!rewrites(rule.kind))
        return {};
    if (rule.replacement.size() > longest_replacement)
        return wrong(rule.replacement, "the replacement is too long", "", std::nullopt);
    const int groups = std::min(9, regex.NumberOfCapturingGroups());
    if (const auto at = bad_reference(rule.replacement, groups))
        return wrong(rule.replacement,
                     "\"" + rule.replacement.substr(at->offset, at->length) +
                         "\" is not a group of the expression",
                     groups ? "\\1 to \\" + std::to_string(groups) +
                                  " are its groups in parentheses, \\0 the whole match, \\\\ a \\"
                            : "it has no parentheses; \\0 is the whole match, \\\\ a \\",
                     at);
    return {};
}

Result<Rules> Rules::compile(std::vector<Rule> list, const Rules& known) {
    Rules rules;
    auto next = known.list_.begin();
    for (const Rule& rule : list) {
        if (rule.kind == Rule::Kind::fold_recursion) {
            rules.fold_recursion_ = true;
            rules.compiled_.push_back(nullptr);
            continue;
        }
        if (rule.expression.size() > longest_expression)
            return wrong(rule.expression, "the expression is too long", "", std::nullopt);
        if (const auto same = std::find(next, known.list_.end(), rule); same != known.list_.end()) {
            rules.compiled_.push_back(known.compiled_[size_t(same - known.list_.begin())]);
            next = same + 1;
        } else {
            auto compiled = std::make_shared<const Compiled>(rule.expression);
            if (auto sound = Compiled::check(rule, compiled->regex); !sound)
                return sound.error();
            rules.compiled_.push_back(std::move(compiled));
        }
        rules.of_frames_ |= rule.kind != Rule::Kind::rewrite_thread;
    }
    rules.list_ = std::move(list);
    return rules;
}

Result<Rules> Rules::compile(std::vector<Rule> list) {
    return compile(std::move(list), {});
}

std::string Rules::thread_name(std::string_view raw) const {
    std::string name(raw);
    for (size_t i = 0; i < list_.size(); i++)
        if (list_[i].kind == Rule::Kind::rewrite_thread)
            compiled_[i]->rewrite(name, list_[i].replacement);
    return name;
}

Rules::FrameName Rules::frame_name(std::string_view raw) const {
    FrameName frame{std::string(raw), false};
    for (size_t i = 0; i < list_.size() && !frame.dropped; i++) {
        if (list_[i].kind == Rule::Kind::rewrite_frame)
            compiled_[i]->rewrite(frame.name, list_[i].replacement);
        else if (list_[i].kind == Rule::Kind::drop_frame)
            frame.dropped = compiled_[i]->matches(frame.name);
    }
    return frame;
}

std::string spell_rule(const Rule& rule) {
    const std::string expression = "/" + rule.expression + "/";
    switch (rule.kind) {
    case Rule::Kind::rewrite_thread:
        return "rewrite thread " + expression + " " + spell_replacement(rule.replacement);
    case Rule::Kind::rewrite_frame:
        return "rewrite frame " + expression + " " + spell_replacement(rule.replacement);
    case Rule::Kind::drop_frame:
        return "drop frame " + expression;
    case Rule::Kind::fold_recursion:
        break;
    }
    return "fold recursion";
}

} // namespace auger
