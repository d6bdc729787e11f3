// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/name_matcher.h"

#include "loader/probes/function_names.h"
#include "loader/reader/elf/function_index.h"
#include "loader/reader/names/demangle.h"

#include <algorithm>

namespace auger {
namespace {

bool identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Words that a demangled name may hold though the mangled one spells them otherwise.
constexpr std::string_view abbreviated[] = {
    "std",       "allocator",      "basic_string", "string",    "basic_istream", "basic_ostream",
    "iostream",  "basic_iostream", "char_traits",  "unsigned",  "signed",        "short",
    "long",      "double",         "float",        "__int128",  "wchar_t",       "char16_t",
    "char32_t",  "bool",           "void",         "const",     "volatile",      "anonymous",
    "namespace", "lambda",         "operator",     "unnamed",   "type",          "delete",
    "auto",      "decltype",       "restrict",     "nullptr_t", "clone",         "virtual",
    "thunk"};

// The longest literal run of identifier characters in the name's last component.
std::string needle_of(std::string_view name, bool glob) {
    if (name.find_first_of("<({~") != name.npos || name.find("operator") != name.npos)
        return {};
    if (size_t last = name.rfind("::"); last != name.npos)
        name = name.substr(last + 2);
    std::string_view best;
    for (size_t at = 0; at < name.size();) {
        if (glob && name[at] == '[') {
            size_t end = name.find(']', at + 2);
            at = end == name.npos ? name.size() : end + 1;
            continue;
        }
        size_t start = at;
        while (at < name.size() && identifier(name[at]))
            ++at;
        if (at - start > best.size())
            best = name.substr(start, at - start);
        at += at == start;
    }
    for (std::string_view word : abbreviated)
        if (word.find(best) != word.npos)
            return {};
    return std::string(best);
}

// `const char*` -> `char const*`, as demanglers write it; only at the start of an argument.
std::string const_behind(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        bool argument_start =
            !out.empty() && (out.back() == '(' || out.back() == ',' || out.back() == '<');
        constexpr std::string_view word = "const ";
        if (!argument_start || !text.substr(at).starts_with(word)) {
            out += text[at++];
            continue;
        }
        at += word.size();
        int depth = 0;
        size_t end = at;
        for (; end < text.size(); ++end) {
            char c = text[end];
            if (depth == 0 && (c == '*' || c == '&' || c == ',' || c == ')' || c == '>'))
                break;
            depth += (c == '<') - (c == '>');
        }
        out += text.substr(at, end - at);
        out += " const";
        at = end;
    }
    return out;
}

// `f(int) const` -> `f(int)`
std::string_view without_qualifiers(std::string_view text) {
    size_t close = text.rfind(')');
    return close == text.npos ? text : text.substr(0, close + 1);
}

// "ns::Class::size const", as views show it, has its parameters left out between the two words.
std::string without_trailing_const(std::string text) {
    for (const std::string_view word : {" &&", " &", " const", " volatile"})
        while (text.ends_with(word))
            text.resize(text.size() - word.size());
    return text;
}

} // namespace

NameMatcher::NameMatcher(const ProbePattern& pattern)
    : glob_(pattern.function_is_glob), with_arguments_(pattern.with_arguments),
      as_written_(pattern.function),
      suffix_(pattern.coroutine_part.empty() ? "" : "." + pattern.coroutine_part),
      wanted_(normalise_spaces(pattern.function)),
      needle_(needle_of(pattern.function, pattern.function_is_glob)),
      with_templates_(strip_template_arguments(wanted_) != wanted_),
      thunk_(pattern.function.find(" thunk to ") != std::string::npos) {
    if (with_arguments_)
        wanted_ = const_behind(wanted_);
    else
        wanted_ = normalise_spaces(without_trailing_const(pattern.function));
    if (!with_arguments_ && wanted_.find("<>") != std::string::npos)
        // Stripped first: without its spaces Rust's "<Box<> as FnOnce<>>::f" would be
        // "<BoxasFnOnce>::f".
        shortened_ =
            normalise_spaces(strip_template_arguments(without_trailing_const(pattern.function)));
    // "inflate.part.0" is shown of C's clones, and their functions are looked for.
    if (!glob_)
        as_written_ = split_clone_name(as_written_).base;
}

bool NameMatcher::fits(std::string_view name, const std::string& wanted) const {
    for (size_t start : name_starts(name)) {
        std::string_view tail = name.substr(start);
        if (glob_ ? glob_match(wanted, tail) : tail == wanted)
            return true;
    }
    return false;
}

bool NameMatcher::matches(std::string_view mangled) const {
    if (!mangled.ends_with(suffix_))
        return false;
    if (mangled == as_written_)
        return true;
    bool encoded = mangled.starts_with("_Z") || mangled.starts_with("_R");
    if (!encoded)
        return glob_ ? glob_match(as_written_, mangled) : false;
    // Thunks adjust `this` and jump on: the same call would count twice. Who names one means it.
    if (thunk_ !=
        (mangled.starts_with("_ZTh") || mangled.starts_with("_ZTv") || mangled.starts_with("_ZTc")))
        return false;
    if (mangled.find(needle_) == mangled.npos)
        return false;
    if (with_arguments_) {
        std::string full = demangle(mangled);
        std::string plain = normalise_spaces(full);
        if (fits(plain) || fits(without_qualifiers(plain)))
            return true;
        return !with_templates_ &&
               fits(without_qualifiers(normalise_spaces(strip_template_arguments(full))));
    }
    std::string name = demangle_without_parameters(mangled);
    if (fits(normalise_spaces(name)))
        return true;
    const std::string plain = normalise_spaces(strip_template_arguments(name));
    return (!shortened_.empty() && fits(plain, shortened_)) || (!with_templates_ && fits(plain));
}

} // namespace auger
