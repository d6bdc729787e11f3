// SPDX-License-Identifier: GPL-3.0-or-later
// The values of the language: 5ms, p99.9, 50%, 1000. Each reader returns nothing for text that is
// not of its kind, and complains about text of its kind that makes no sense (p101, 5e99s).
#pragma once

#include "loader/stream/events.h"
#include "repl/language/lexer.h"
#include "views/spell.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

// "5ms", "1.5s", "100us", "10m" (minutes), "2h", "300ns" -> nanoseconds.
std::optional<uint64_t> read_duration(std::string_view text);
// "p95", "p99.9" -> 95, 99.9; only between 0 and 100, exclusive.
std::optional<double> read_percentile(std::string_view text);
// "50%" -> 50.
std::optional<double> read_percent(std::string_view text);
// "1000", "1'000", "1,000", "10k", "2M".
std::optional<uint64_t> read_count(std::string_view text);
// "256M", "2G", "512K", "1000": bytes, by powers of 1024.
std::optional<uint64_t> read_size(std::string_view text);
std::string spell_size(uint64_t bytes);

Parsed<uint64_t> duration_of(const Word& word);
Parsed<uint64_t> count_of(const Word& word);
Parsed<uint64_t> size_of(const Word& word);
// A duration or a percentile.
Parsed<Threshold> threshold_of(const Word& word);

} // namespace auger
