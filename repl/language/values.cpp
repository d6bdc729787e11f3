// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers are read by from_chars: the user's locale must not turn the point into a comma.
#include "repl/language/values.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace auger {
namespace {

struct Unit {
    std::string_view name;
    uint64_t nanoseconds;
};

constexpr std::array<Unit, 7> units{{{"ns", 1},
                                     {"us", 1'000},
                                     {"\xC2\xB5s", 1'000}, // micro sign
                                     {"ms", 1'000'000},
                                     {"s", 1'000'000'000},
                                     {"m", 60'000'000'000},
                                     {"h", 3'600'000'000'000}}};

constexpr std::array<std::pair<char, uint64_t>, 3> size_units{
    {{'G', 1 << 30}, {'M', 1 << 20}, {'K', 1 << 10}}};

constexpr double longest_ns = 9.0e18; // about 285 years; keeps sums within 64 bits

// A plain decimal number at the start of `text`; what follows it goes to `rest`.
std::optional<double> number(std::string_view text, std::string_view& rest) {
    if (text.empty() || !(text[0] >= '0' && text[0] <= '9'))
        return std::nullopt;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(value))
        return std::nullopt;
    rest = text.substr(static_cast<size_t>(end - text.data()));
    return value;
}

} // namespace

std::optional<uint64_t> read_duration(std::string_view text) {
    std::string_view rest;
    const auto value = number(text, rest);
    if (!value)
        return std::nullopt;
    for (const Unit& unit : units) {
        if (rest != unit.name)
            continue;
        const double nanoseconds = *value * static_cast<double>(unit.nanoseconds);
        if (nanoseconds > longest_ns)
            return std::nullopt;
        return static_cast<uint64_t>(std::llround(nanoseconds));
    }
    return std::nullopt;
}

std::optional<double> read_percentile(std::string_view text) {
    std::string_view rest;
    if (text.size() < 2 || (text[0] != 'p' && text[0] != 'P'))
        return std::nullopt;
    const auto value = number(text.substr(1), rest);
    if (!value || !rest.empty() || *value <= 0 || *value >= 100)
        return std::nullopt;
    return value;
}

std::optional<double> read_percent(std::string_view text) {
    std::string_view rest;
    const auto value = number(text, rest);
    if (!value || rest != "%")
        return std::nullopt;
    return value;
}

std::optional<uint64_t> read_count(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        if (c != '\'' && c != ',')
            digits += c;
    }
    uint64_t scale = 1;
    if (digits.ends_with('k') || digits.ends_with('M')) {
        scale = digits.back() == 'k' ? 1'000 : 1'000'000;
        digits.pop_back();
    }
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
        value > UINT64_MAX / scale)
        return std::nullopt;
    return value * scale;
}

std::optional<uint64_t> read_size(std::string_view text) {
    uint64_t scale = 1;
    for (const auto& [letter, bytes] : size_units)
        if (text.ends_with(letter))
            scale = bytes;
    if (scale != 1)
        text.remove_suffix(1);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
        value > UINT64_MAX / scale)
        return std::nullopt;
    return value * scale;
}

std::string spell_size(uint64_t bytes) {
    for (const auto& [letter, unit] : size_units)
        if (bytes != 0 && bytes % unit == 0)
            return fmt::format("{}{}", bytes / unit, letter);
    return fmt::format("{}", bytes);
}

Parsed<uint64_t> duration_of(const Word& word) {
    if (const auto value = read_duration(word.text))
        return *value;
    if (read_count(word.text))
        return Complaint{
            word.span, fmt::format("\"{}\" has no unit", word.text),
            fmt::format("write {0}ms or {0}s; units are ns, us, ms, s, m (minutes) and h",
                        word.text),
            Error::Kind::usage};
    return Complaint{word.span, fmt::format("\"{}\" is not a duration", word.text),
                     "durations look like 100us, 5ms, 1.5s, 10m (minutes)", Error::Kind::usage};
}

Parsed<uint64_t> count_of(const Word& word) {
    if (const auto value = read_count(word.text))
        return *value;
    return Complaint{word.span, fmt::format("\"{}\" is not a count", word.text),
                     "a whole number is needed: 1000, 1,000 or 10k", Error::Kind::usage};
}

Parsed<uint64_t> size_of(const Word& word) {
    if (const auto value = read_size(word.text))
        return *value;
    return Complaint{word.span, fmt::format("\"{}\" is not a size", word.text),
                     "sizes look like 512K, 256M, 2G", Error::Kind::usage};
}

Parsed<Threshold> threshold_of(const Word& word) {
    Threshold threshold;
    if (const auto percentile = read_percentile(word.text)) {
        threshold.kind = Threshold::Kind::percentile;
        threshold.percentile = *percentile;
        return threshold;
    }
    if (const auto duration = read_duration(word.text)) {
        if (*duration == 0)
            return Complaint{word.span, "every call is longer than 0", "try p95 or 5ms",
                             Error::Kind::usage};
        threshold.kind = Threshold::Kind::fixed;
        threshold.fixed_ns = *duration;
        return threshold;
    }
    std::string_view rest;
    if (word.text.size() > 1 && word.text[0] == 'p' &&
        number(std::string_view(word.text).substr(1), rest) && rest.empty()) {
        const bool tail = word.text.starts_with("p99") && word.text.find('.') == std::string::npos;
        return Complaint{
            word.span,
            fmt::format("\"{}\" is not a percentile: they lie between p0 and p100", word.text),
            tail ? fmt::format("did you mean \"p99.{}\"?", word.text.substr(3)) : "",
            Error::Kind::usage};
    }
    if (auto duration = duration_of(word); !duration && read_count(word.text))
        return Complaint{
            word.span, fmt::format("\"{}\" has no unit", word.text),
            fmt::format("write {0}ms for a duration or p{0} for a percentile", word.text),
            Error::Kind::usage};
    return Complaint{word.span, fmt::format("\"{}\" is not a threshold", word.text),
                     "a threshold is a duration (5ms, 100us) or a percentile (p95, p99.9)",
                     Error::Kind::usage};
}

} // namespace auger
