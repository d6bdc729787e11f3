// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/search_pattern.h"

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
        std::any_of(expression.begin(), expression.end(), [](char c) { return c >= 'A' && c <= 'Z'; }));
    return options;
}

} // namespace

struct SearchPattern::Implementation {
    explicit Implementation(const std::string& expression)
        : text(expression), compiled(expression, options_for(expression)) {}
    std::string text;
    RE2 compiled;
};

SearchPattern::SearchPattern(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
SearchPattern::SearchPattern(SearchPattern&&) noexcept = default;
SearchPattern& SearchPattern::operator=(SearchPattern&&) noexcept = default;
SearchPattern::~SearchPattern() = default;

Result<SearchPattern> SearchPattern::compile(const std::string& expression) {
    if (expression.size() > longest_expression)
        return Error{"search", "", "the expression is too long", "", Error::Kind::usage};
    auto implementation = std::make_unique<Implementation>(expression);
    if (!implementation->compiled.ok())
        return Error{"search", expression, implementation->compiled.error(), "", Error::Kind::usage};
    return SearchPattern(std::move(implementation));
}

bool SearchPattern::matches(std::string_view text) const {
    text = text.substr(0, longest_text);
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), implementation_->compiled);
}

const std::string& SearchPattern::text() const {
    return implementation_->text;
}

} // namespace auger
