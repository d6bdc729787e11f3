// SPDX-License-Identifier: GPL-3.0-or-later
// What a search looks for: a regular expression, in any case unless it has a capital. RE2, because
// its time is linear in the (hostile) text whatever the expression, and its memory is bounded.
#pragma once

#include "loader/base/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace auger {

class Pattern {
  public:
    static Result<Pattern> compile(const std::string& expression);
    // Whether it fits somewhere in the text.
    bool matches(std::string_view text) const;
    // How well it fits a function's name: what somebody who types a name most likely means comes
    // first.
    enum class Fit : uint8_t { whole, beginning, words, inside, none };
    Fit fit(std::string_view name) const;
    // The same of the whole name or of what views show of it, whichever fits better.
    Fit fit_either(std::string_view name) const;

  private:
    struct Compiled;
    explicit Pattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
    std::shared_ptr<const Compiled> compiled_;
};

} // namespace auger
