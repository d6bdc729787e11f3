// SPDX-License-Identifier: GPL-3.0-or-later
// A regular expression of the user, for names of the target's. RE2, because its time is linear in
// the text whatever the expression, and its memory bounded: std::regex has neither.
#pragma once

#include "loader/base/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace auger {

class SearchPattern {
  public:
    // Without capital letters in it, case does not matter.
    static Result<SearchPattern> compile(const std::string& expression);

    SearchPattern(SearchPattern&&) noexcept;
    SearchPattern& operator=(SearchPattern&&) noexcept;
    ~SearchPattern();

    // Whether it fits somewhere in the text.
    bool matches(std::string_view text) const;
    const std::string& text() const;

  private:
    struct Implementation;
    explicit SearchPattern(std::unique_ptr<Implementation>);
    std::unique_ptr<Implementation> implementation_;
};

} // namespace auger
