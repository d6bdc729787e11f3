// SPDX-License-Identifier: GPL-3.0-or-later
// Text as the console's language reads it back: views write commands, too.
#pragma once

#include "loader/stream/events.h"
#include "views/model/call_class.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace auger {

// Shortest text that reads back: "p99.9", "5ms", "1.5s".
std::string spell_duration(uint64_t nanoseconds);
std::string spell_percentile(double percentile);
std::string spell_threshold(const Threshold& threshold);

// `text` as a quotation that is read back as one word, whatever bytes it has (but NUL).
std::string quote_word(std::string_view text);
// The same, without quotes where there can be no doubt: a name, "libc:recv", "recv@main.cc:9".
std::string spell_word(std::string_view text);
// "slow+=3", "=\"a b\"".
std::string spell_class(const ClassFilter& filter);

} // namespace auger
