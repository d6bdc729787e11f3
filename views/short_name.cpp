// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/short_name.h"

#include "views/escape.h"

#include <array>

namespace auger {

namespace {

constexpr std::string_view anonymous = "(anonymous namespace)";
// Longest first: operator<< must not be taken for operator< and a bracket.
constexpr std::array<std::string_view, 10> operators = {
    "operator<=>", "operator<<=", "operator>>=", "operator->*", "operator<<",
    "operator>>",  "operator->",  "operator()",  "operator<",   "operator>"};

// The operator that stands at the beginning of the text, if one does.
std::string_view operator_at(std::string_view text) {
    for (std::string_view candidate : operators) {
        if (text.starts_with(candidate))
            return candidate;
    }
    return {};
}

} // namespace

std::string short_name(std::string_view name) {
    std::string result;
    int angles = 0, rounds = 0; // how deep in template arguments and parameter lists
    for (size_t i = 0; i < name.size(); i++) {
        bool shown = angles == 0 && rounds == 0;
        std::string_view rest = name.substr(i);
        std::string_view whole = rest.starts_with(anonymous) ? anonymous : operator_at(rest);
        if (!whole.empty()) {
            if (shown)
                result += whole;
            i += whole.size() - 1;
            continue;
        }
        switch (name[i]) {
        case '<':
            if (shown)
                result += "<>";
            angles++;
            break;
        case '>':
            angles--;
            break;
        case '(':
            rounds++;
            break;
        case ')':
            rounds--;
            break;
        default:
            if (shown)
                result += name[i];
        }
        if (angles < 0 || rounds < 0)
            return std::string(name);
    }
    if (angles != 0 || rounds != 0 || result.empty())
        return std::string(name);
    return result;
}

std::string display_name(std::string_view name) {
    return escape_untrusted(short_name(name));
}

} // namespace auger
