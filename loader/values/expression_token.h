// SPDX-License-Identifier: GPL-3.0-or-later
// The words of the language of values.
#pragma once

#include "loader/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct ExpressionToken {
    enum class Kind : uint8_t { name, number, string, symbol, end };
    Kind kind = Kind::end;
    Error::Range at{};
    // Name (`Color::red` is one); symbol as written; bytes of a string.
    std::string text{};
    uint64_t number = 0;
    bool hexadecimal = false;
};

// The last one is `end`, behind the text.
Result<std::vector<ExpressionToken>> expression_tokens(std::string_view text);

} // namespace auger
