// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/spell.h"

#include "views/escape.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace auger {

std::string spell_duration(uint64_t nanoseconds) {
    struct Unit {
        std::string_view name;
        uint64_t nanoseconds;
    };
    constexpr std::array<Unit, 4> shown{
        {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};
    for (const Unit& unit : shown) {
        // At most three decimals, and only where they are exact.
        if (nanoseconds >= unit.nanoseconds &&
            (unit.nanoseconds == 1 || nanoseconds % (unit.nanoseconds / 1000) == 0))
            return fmt::format(
                "{}{}", static_cast<double>(nanoseconds) / static_cast<double>(unit.nanoseconds),
                unit.name);
    }
    return fmt::format("{}ns", nanoseconds);
}

std::string spell_percentile(double percentile) {
    return fmt::format("p{}", percentile);
}

std::string spell_threshold(const Threshold& threshold) {
    switch (threshold.kind) {
    case Threshold::Kind::fixed:
        return spell_duration(threshold.fixed_ns);
    case Threshold::Kind::percentile:
        return spell_percentile(threshold.percentile);
    case Threshold::Kind::none:
        break;
    }
    return "none";
}

std::string quote_word(std::string_view text) {
    std::string out = "\"";
    for (size_t at = 0; at < text.size();) {
        const size_t begin = at;
        const uint32_t c = decode_utf8(text, at);
        if (c == '"' || c == '\\')
            out += fmt::format("\\{}", text[begin]);
        else if (c == UINT32_MAX || c < 0x20 || c == 0x7F)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[begin]));
        else
            out += text.substr(begin, at - begin);
    }
    return out + "\"";
}

std::string spell_word(std::string_view text) {
    constexpr std::array<std::string_view, 8> keywords{"at", "if",  "by",  "in",
                                                       "or", "and", "not", "off"};
    auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    auto plain = [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') ||
               std::string_view(":.@/~").find(c) != std::string_view::npos;
    };
    bool bare = !text.empty() && letter(text[0]) && std::ranges::all_of(text, plain) &&
                std::ranges::find(keywords, text) == keywords.end();
    return bare ? std::string(text) : quote_word(text);
}

std::string spell_class(const ClassFilter& filter) {
    auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == ':' || c == '.';
    };
    ClassFilter rest = filter;
    rest.label.reset();
    rest.in.reset();
    std::string text = rest.all() ? "" : to_string(rest);
    // A quotation must not begin the word: it would be no class then.
    const auto add = [&](std::string_view key, const std::string& value) {
        text += text.empty() ? "" : "+";
        text += key;
        text += std::ranges::all_of(value, plain) ? value : quote_word(value);
    };
    if (filter.in)
        add(filter.in->others ? "in!=" : "in=", filter.in->function);
    if (filter.label)
        add("=", *filter.label);
    return text.empty() ? to_string(rest) : text;
}

} // namespace auger
