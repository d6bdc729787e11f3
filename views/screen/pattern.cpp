// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/pattern.h"

#include "views/model/frame_kind.h"
#include "views/short_name.h"

#include <re2/re2.h>

#include <algorithm>

namespace auger {

namespace {

constexpr size_t longest_expression = 1000;
constexpr size_t longest_text = 4096; // what lies behind is not searched
constexpr int64_t most_memory = 1 << 20;

RE2::Options options_for(const std::string& expression) {
    RE2::Options options;
    options.set_log_errors(false); // they would go to the terminal
    options.set_max_mem(most_memory);
    options.set_case_sensitive(
        std::ranges::any_of(expression, [](char c) { return c >= 'A' && c <= 'Z'; }));
    return options;
}

} // namespace

struct Pattern::Compiled {
    explicit Compiled(const std::string& expression)
        : regex(expression, options_for(expression)),
          words("\\b(?:" + expression + ")\\b", options_for(expression)) {}
    RE2 regex, words;
};

Result<Pattern> Pattern::compile(const std::string& expression) {
    auto failed = [&](std::string cause) {
        return Error{"search", expression.substr(0, longest_expression), std::move(cause),
                     "put a \\ before a character that stands for itself", Error::Kind::usage};
    };
    if (expression.size() > longest_expression)
        return failed("the expression is too long");
    auto compiled = std::make_shared<const Compiled>(expression);
    if (!compiled->regex.ok())
        return failed(compiled->regex.error());
    return Pattern(std::move(compiled));
}

bool Pattern::matches(std::string_view text) const {
    text = text.substr(0, longest_text);
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->regex);
}

Pattern::Fit Pattern::fit(std::string_view name) const {
    if (!matches(name))
        return Fit::none;
    name = name.substr(0, longest_text);
    // With and without namespaces, parameters and what a runtime adds: all are the whole name.
    const std::string plain = short_name(name);
    const size_t last = plain.rfind("::");
    const auto piece = [](std::string_view text) {
        return re2::StringPiece(text.data(), text.size());
    };
    const auto anchored = [&](std::string_view text, RE2::Anchor anchor) {
        return compiled_->regex.Match(piece(text), 0, text.size(), anchor, nullptr, 0);
    };
    const std::string_view unqualified =
        std::string_view(plain).substr(last == std::string::npos ? 0 : last + 2);
    const std::string_view source = source_name(name);
    for (const std::string_view one : {name, std::string_view(plain), unqualified, source})
        if (!one.empty() && anchored(one, RE2::ANCHOR_BOTH))
            return Fit::whole;
    for (const std::string_view one : {std::string_view(plain), unqualified, source})
        if (!one.empty() && anchored(one, RE2::ANCHOR_START))
            return Fit::beginning;
    return compiled_->words.ok() && RE2::PartialMatch(piece(name), compiled_->words) ? Fit::words
                                                                                     : Fit::inside;
}

Pattern::Fit Pattern::fit_either(std::string_view name) const {
    const Fit whole = fit(name);
    return whole == Fit::whole ? whole : std::min(whole, fit(short_name(name)));
}

} // namespace auger
