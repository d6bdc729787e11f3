// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/basic_type.h"

#include <algorithm>
#include <array>

namespace auger {
namespace {

using Kind = BasicType::Kind;

// u8, s16, uint32, int64, uint8_t
std::optional<BasicType> by_width(std::string_view name) {
    struct Prefix {
        std::string_view text;
        bool is_signed, may_end_in_t;
    };
    constexpr Prefix prefixes[] = {
        {"uint", false, true}, {"int", true, true}, {"u", false, false}, {"s", true, false}};
    for (const Prefix& prefix : prefixes) {
        if (!name.starts_with(prefix.text))
            continue;
        std::string_view width = name.substr(prefix.text.size());
        if (prefix.may_end_in_t && width.ends_with("_t"))
            width.remove_suffix(2);
        for (const auto& [text, size] :
             {std::pair<std::string_view, uint8_t>{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}})
            if (width == text)
                return BasicType{Kind::integer, size, prefix.is_signed};
    }
    return std::nullopt;
}

std::optional<BasicType> by_name(std::string_view name) {
    struct Named {
        std::string_view name;
        BasicType type;
    };
    constexpr Named types[] = {
        {"size_t", {Kind::integer, 8, false}},    {"ssize_t", {Kind::integer, 8, true}},
        {"uintptr_t", {Kind::integer, 8, false}}, {"intptr_t", {Kind::integer, 8, true}},
        {"bool", {Kind::boolean, 1, false}},      {"_Bool", {Kind::boolean, 1, false}},
        {"float", {Kind::floating, 4, true}},     {"double", {Kind::floating, 8, true}},
        {"void", {Kind::nothing, 0, false}},
    };
    for (const Named& one : types)
        if (name == one.name)
            return one.type;
    return std::nullopt;
}

// char, short, int, long, each signed or unsigned.
std::optional<BasicType> by_words(std::string_view name) {
    constexpr std::array<std::string_view, 6> words = {"char", "short",  "int",
                                                       "long", "signed", "unsigned"};
    std::array<unsigned, words.size()> count{};
    while (!name.empty()) {
        const std::string_view word = name.substr(0, name.find(' '));
        const auto known = std::ranges::find(words, word);
        if (known == words.end())
            return std::nullopt;
        ++count[static_cast<size_t>(known - words.begin())];
        name.remove_prefix(std::min(name.size(), word.size() + 1));
    }
    const auto [chars, shorts, ints, longs, with_sign, without_sign] = count;
    if (chars > 1 || shorts > 1 || ints > 1 || longs > 2 || with_sign + without_sign > 1 ||
        (chars != 0) + (shorts != 0) + (longs != 0) > 1 || (chars && ints) ||
        chars + shorts + ints + longs + with_sign + without_sign == 0)
        return std::nullopt;
    const uint8_t size = chars ? 1 : shorts ? 2 : longs ? 8 : 4;
    return BasicType{chars ? Kind::character : Kind::integer, size, without_sign == 0};
}

} // namespace

std::optional<BasicType> basic_type(std::string_view name) {
    if (auto type = by_width(name))
        return type;
    if (auto type = by_name(name))
        return type;
    return by_words(name);
}

} // namespace auger
