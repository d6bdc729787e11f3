// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/pattern.h"

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
    explicit Compiled(const std::string& expression) : regex(expression, options_for(expression)) {}
    RE2 regex;
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

} // namespace auger
