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

// Length of the type in "net/http.(*conn).serve", which is how Go writes a method's; else 0.
size_t receiver_at(std::string_view name, size_t at) {
    if (at == 0 || name[at - 1] != '.' || !name.substr(at).starts_with("(*"))
        return 0;
    const size_t end = name.find(')', at);
    return end != name.npos && name.substr(end + 1).starts_with('.') ? end + 1 - at : 0;
}

// What Python writes in angle brackets: a part of a qualified name,
// "Service.run.<locals>.<lambda>".
std::string_view python_part_at(std::string_view name, size_t at) {
    constexpr std::array<std::string_view, 7> parts = {
        "<module>", "<lambda>", "<locals>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"};
    if (at > 0 && name[at - 1] != '.')
        return {};
    for (const std::string_view part : parts) {
        const std::string_view rest = name.substr(at);
        if (rest.starts_with(part) && (rest.size() == part.size() || rest[part.size()] == '.'))
            return part;
    }
    return {};
}

// Likewise Ruby: "<main>", "block (2 levels) in <class:Orders>", "Integer#<=>".
std::string_view ruby_part_at(std::string_view name, size_t at) {
    constexpr std::array<std::string_view, 7> parts = {
        "<main>",   "<top (required)>", "<singleton class>", "<compiled>",
        "<module:", "<class:",          "<internal:"};
    constexpr std::string_view in = " in ", levels = " levels)";
    const std::string_view before = name.substr(0, at), rest = name.substr(at);
    if (rest == "<=>" && before.ends_with('#'))
        return rest;
    if (rest.starts_with('(') && before.ends_with("block ")) {
        const size_t end = rest.find_first_not_of("0123456789", 1);
        if (end != rest.npos && end > 1 && rest.substr(end).starts_with(levels) &&
            rest.substr(end + levels.size()).starts_with(in))
            return rest.substr(0, end + levels.size());
    }
    if (!before.empty() && !before.ends_with(in))
        return {};
    for (const std::string_view part : parts)
        if (rest.starts_with(part) && rest.find('>') == rest.size() - 1 &&
            rest.find("::") == rest.npos)
            return rest;
    return {};
}

// Whether a bracket that begins the name is Rust's of "<alloc::boxed::Box<F> as
// FnOnce>::call_once", where it holds what tells the functions of that name apart.
bool begins_with_a_type(std::string_view name) {
    int depth = 0;
    for (size_t i = 0; i < name.size() && name.front() == '<'; i++) {
        depth += (name[i] == '<') - (name[i] == '>');
        if (depth == 0)
            return name.substr(i + 1).starts_with("::");
    }
    return false;
}

} // namespace

std::string short_name(std::string_view name) {
    std::string result;
    int angles = 0, rounds = 0; // how deep in template arguments and parameter lists
    int shown_angles = begins_with_a_type(name) ? 1 : 0; // what is deeper is left out
    for (size_t i = 0; i < name.size(); i++) {
        const bool opens = i == 0 && shown_angles == 1;
        bool shown = (angles == shown_angles || opens) && rounds == 0;
        std::string_view rest = name.substr(i);
        std::string_view whole = rest.starts_with(anonymous) ? anonymous : operator_at(rest);
        if (whole.empty())
            whole = python_part_at(name, i);
        if (whole.empty())
            whole = ruby_part_at(name, i);
        if (!whole.empty()) {
            if (shown)
                result += whole;
            i += whole.size() - 1;
            continue;
        }
        switch (name[i]) {
        case '<':
            if (shown)
                result += opens ? "<" : "<>";
            angles++;
            break;
        case '>':
            if (angles-- == 1 && shown_angles == 1) {
                result += '>';
                shown_angles = 0;
            }
            break;
        case '(':
            if (const size_t length = receiver_at(name, i)) {
                if (shown)
                    result += name.substr(i, length);
                i += length - 1;
                break;
            }
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

std::string fit_name(std::string_view name, size_t width, std::string_view ellipsis) {
    if (text_width(name) <= width)
        return std::string(name);
    if (const size_t clone = name.find(" [clone "); clone != name.npos && clone > 0)
        return fit_name(name.substr(0, clone), width, ellipsis);
    for (size_t at = name.find("::"); at != name.npos && at + 2 < name.size();
         at = name.find("::")) {
        name.remove_prefix(at + 2);
        if (text_width(ellipsis) + text_width(name) <= width)
            return std::string(ellipsis).append(name);
    }
    return elide_middle(name, width, ellipsis);
}

} // namespace auger
