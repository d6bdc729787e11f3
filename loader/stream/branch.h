// SPDX-License-Identifier: GPL-3.0-or-later
// Branch: what calls of a split may have taken or not. Changes when something else than a line or a
// condition can be watched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace auger {

struct Branch {
    enum class Kind : uint8_t { none, line, condition };

    Kind kind = Kind::none;
    std::string what{}; // "main.cc:1290"; "arg2 > 4096"

    static Branch at_line(std::string line) { return {Kind::line, std::move(line)}; }
    static Branch on_condition(std::string text) { return {Kind::condition, std::move(text)}; }
    // What text() gave; none for anything else.
    static Branch parse(std::string_view text) {
        for (const Kind kind : {Kind::line, Kind::condition})
            if (const std::string_view word = keyword(kind); text.starts_with(word))
                return {kind, std::string(text.substr(word.size()))};
        return {};
    }

    bool empty() const { return kind == Kind::none; }
    // As it is typed: "at main.cc:1290", "if arg2 > 4096"; empty for none.
    std::string text() const { return std::string(keyword(kind)) + what; }

    friend bool operator==(const Branch&, const Branch&) = default;

  private:
    static constexpr std::string_view keyword(Kind kind) {
        return kind == Kind::line ? "at " : kind == Kind::condition ? "if " : "";
    }
};

} // namespace auger
