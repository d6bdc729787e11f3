// SPDX-License-Identifier: GPL-3.0-or-later
// One pass from left to right finds the separator; what is left of it is a library, right of it a
// name, which is a glob unless its special characters belong to an operator or an argument list.
#include "loader/probes/probe_pattern.h"

#include "loader/probes/source_place.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace auger {
namespace {

constexpr size_t text_limit = 4096; // bytes
constexpr std::string_view usdt_prefix = "usdt:";
constexpr std::string_view tracepoint_prefix = "tracepoint:";

bool is_glob(std::string_view text) {
    return text.find_first_of("*?[\\") != text.npos;
}

bool may_be_in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (c & 0x80);
}

bool digit(char c) {
    return c >= '0' && c <= '9';
}

// Length of the operator symbol at the start of the text (what follows the word `operator`).
size_t operator_symbol(std::string_view text) {
    // `operator++0x10`: the second plus begins an offset.
    if (text.size() > 2 && text.starts_with("++") && digit(text[2]))
        return 1;
    for (std::string_view symbol :
         {"->*", "<<=", ">>=", "<=>", "()", "[]", "->", "++", "--", "<<", ">>", "<=", ">=",
          "==",  "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+",
          "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!",  "=",  "<",  ">",  ","})
        if (text.starts_with(symbol))
            return symbol.size();
    return 0;
}

// When the word `operator` begins at `at`: the length of the word with its symbol, else 0.
size_t operator_at(std::string_view text, size_t at) {
    constexpr std::string_view word = "operator";
    if (!text.substr(at).starts_with(word) || (at > 0 && may_be_in_name(text[at - 1])))
        return 0;
    size_t symbol = operator_symbol(text.substr(at + word.size()));
    return symbol ? word.size() + symbol : 0;
}

// The first colon of the first run of an odd number of colons: `libc:f`, `libc:::f`, not `ns::f`.
size_t separator(std::string_view text) {
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '(' || text[at] == '<')
            return text.npos; // no library name goes that far
        if (text[at] != ':')
            continue;
        size_t end = text.find_first_not_of(':', at);
        size_t length = (end == text.npos ? text.size() : end) - at;
        if (length % 2 == 1)
            return at;
        at += length - 1;
    }
    return text.npos;
}

std::optional<uint64_t> number(std::string_view text) {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
    }
    uint64_t value;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

ParsedProbe fail(size_t position, std::string_view text, std::string cause, std::string hint = {}) {
    return {std::nullopt,
            ProbeSyntaxError{position, Error{"read probe", std::string(text), std::move(cause),
                                             std::move(hint), Error::Kind::usage}}};
}

// What the walk over a function's name found.
struct NameShape {
    bool glob = false;
    bool arguments = false;
    std::string escaped;                  // with the literal special characters escaped
    size_t plus = std::string_view::npos; // a `+` outside brackets and operators
    size_t problem = std::string_view::npos;
    std::string cause;
};

NameShape shape_of(std::string_view name) {
    NameShape shape;
    std::string open; // brackets not closed yet
    auto literal = [&](char c) {
        if (c == '*' || c == '?' || c == '[' || c == '\\')
            shape.escaped += '\\';
        shape.escaped += c;
    };
    for (size_t at = 0; at < name.size();) {
        if (size_t length = operator_at(name, at)) {
            for (char c : name.substr(at, length))
                literal(c);
            at += length;
            continue;
        }
        char c = name[at];
        bool in_arguments = open.find('(') != open.npos;
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            shape.problem = at;
            shape.cause = "control character";
            return shape;
        }
        constexpr std::string_view anonymous = "(anonymous namespace)";
        if (name.substr(at).starts_with(anonymous)) {
            shape.escaped += anonymous;
            at += anonymous.size();
            continue;
        }
        if (c == '(' || c == '<') {
            open += c;
            if (c == '(' && open == "(")
                shape.arguments = true;
        } else if (c == ')' || (c == '>' && (at == 0 || name[at - 1] != '-'))) {
            if (open.empty() || open.back() != (c == ')' ? '(' : '<')) {
                shape.problem = at;
                shape.cause = std::string("`") + c + "` without its opening bracket";
                return shape;
            }
            open.pop_back();
        } else if (c == '+' && open.empty()) {
            shape.plus = at;
        } else if (c == '@' && open.empty()) {
            shape.problem = at;
            shape.cause = "`@` is not part of a function's name";
            return shape;
        }
        // A star in an argument list is a pointer.
        if (in_arguments) {
            literal(c);
            ++at;
            continue;
        }
        // Arrays, Go's slices and tags are no sets of characters.
        constexpr std::string_view abi = "[abi:";
        const size_t digits = name.find_first_not_of("0123456789", at + 1);
        const bool array = c == '[' && digits != name.npos && name[digits] == ']' &&
                           (digits == at + 1 || !open.empty());
        if (c == '[' && (array || name.substr(at).starts_with(abi))) {
            literal(c);
            ++at;
            continue;
        }
        if (c == '[') {
            size_t end = name.find(']', at + 2);
            if (end == name.npos) {
                shape.problem = at;
                shape.cause = "`[` without `]`";
                return shape;
            }
            shape.glob = true;
            shape.escaped += name.substr(at, end + 1 - at);
            at = end + 1;
            continue;
        }
        shape.glob |= c == '*' || c == '?';
        shape.escaped += c;
        ++at;
    }
    if (!open.empty()) {
        shape.problem = name.rfind(open.back());
        shape.cause = std::string("`") + open.back() + "` is not closed";
    }
    return shape;
}

// "usdt:PROVIDER:NAME", "usdt:LIBRARY:PROVIDER:NAME"; the library may be a path with colons.
ParsedProbe parse_usdt(std::string_view text, size_t start) {
    constexpr const char* example = "for example usdt:postgresql:query__start, or "
                                    "usdt:libc:libc:setjmp for those of one library";
    const std::string_view rest = text.substr(usdt_prefix.size());
    const size_t name_at = rest.rfind(':');
    if (name_at == rest.npos)
        return fail(start + text.size(), text, "a USDT probe has a provider and a name", example);
    const size_t before = name_at == 0 ? rest.npos : rest.rfind(':', name_at - 1);
    const size_t provider_at = before == rest.npos ? 0 : before + 1;
    ProbePattern pattern;
    pattern.text = text;
    pattern.provider = rest.substr(provider_at, name_at - provider_at);
    pattern.function = rest.substr(name_at + 1);
    pattern.library = rest.substr(0, before == rest.npos ? 0 : before);
    pattern.library_is_path = pattern.library.find('/') != std::string::npos;
    pattern.function_is_glob = is_glob(pattern.function) || is_glob(pattern.provider);
    const auto position = [&](size_t at) { return start + usdt_prefix.size() + at; };
    for (size_t at = 0; at < rest.size(); ++at)
        if (static_cast<unsigned char>(rest[at]) < 0x20 || rest[at] == 0x7f)
            return fail(position(at), text, "control character");
    if (before == 0)
        return fail(position(0), text, "no library before the `:`", example);
    if (pattern.provider.empty())
        return fail(position(provider_at), text, "no provider before the `:`", example);
    if (pattern.function.empty())
        return fail(position(rest.size()), text, "no name after the `:`", example);
    return {std::move(pattern), std::nullopt};
}

// "tracepoint:CATEGORY:NAME".
ParsedProbe parse_tracepoint(std::string_view text, size_t start) {
    constexpr const char* example = "for example tracepoint:syscalls:sys_enter_openat";
    const std::string_view rest = text.substr(tracepoint_prefix.size());
    const auto position = [&](size_t at) { return start + tracepoint_prefix.size() + at; };
    const size_t colon = rest.find(':');
    if (colon == rest.npos)
        return fail(start + text.size(), text, "a tracepoint has a category and a name", example);
    ProbePattern pattern;
    pattern.text = text;
    pattern.category = rest.substr(0, colon);
    pattern.function = rest.substr(colon + 1);
    pattern.function_is_glob = is_glob(pattern.function) || is_glob(pattern.category);
    for (size_t at = 0; at < rest.size(); ++at)
        if (static_cast<unsigned char>(rest[at]) <= 0x20 || rest[at] == 0x7f || rest[at] == '/' ||
            (rest[at] == ':' && at != colon))
            return fail(position(at), text, "no character of a tracepoint's name", example);
    if (pattern.category.empty())
        return fail(position(0), text, "no category before the `:`", example);
    if (pattern.function.empty())
        return fail(position(rest.size()), text, "no name after the `:`", example);
    return {std::move(pattern), std::nullopt};
}

// Names of functions of C: what they are made of besides letters and digits.
struct Language {
    std::string_view name;
    std::string_view separators;
    const char* example;
};
constexpr Language languages_of_natives[] = {
    {"py", ".", "for example py:zlib.compress or py:socket.socket.recv"},
    {"php", "\\:", "for example php:preg_match or php:PDO::query"},
};

// "py:MODULE.FUNCTION", "php:CLASS::METHOD"; null: it is none of these.
const Language* language_of(std::string_view text) {
    const auto* const found =
        std::ranges::find(languages_of_natives, text.substr(0, text.find(':')), &Language::name);
    // Two colons belong to a name, of C++.
    const bool is_one = found != std::end(languages_of_natives) &&
                        text.size() > found->name.size() &&
                        !text.substr(found->name.size()).starts_with("::");
    return is_one ? found : nullptr;
}

ParsedProbe parse_native(const Language& language, std::string_view text, size_t start) {
    const size_t name_at = language.name.size() + 1;
    const std::string_view name = text.substr(name_at);
    ProbePattern pattern;
    pattern.text = text;
    pattern.language = language.name;
    pattern.function = name;
    for (size_t at = 0; at < name.size(); ++at)
        if (!may_be_in_name(name[at]) &&
            language.separators.find(name[at]) == std::string_view::npos)
            return fail(start + name_at + at, text, "no character of a name in this language",
                        language.example);
    if (name.empty())
        return fail(start + text.size(), text, "no function after the `:`", language.example);
    return {std::move(pattern), std::nullopt};
}

constexpr std::string_view clone_word = " [clone ";

// ".actor]" is "actor".
std::string_view coroutine_part(std::string_view clone) {
    for (const std::string_view part : coroutine_parts)
        if (clone.starts_with('.') && clone.substr(1).starts_with(part) &&
            clone.substr(1 + part.size()).starts_with(']'))
            return part;
    return {};
}

// A function's name or address, with its library. `whole` begins with `text`.
ParsedProbe parse_function(std::string_view text, std::string_view whole) {
    size_t start = text.find_first_not_of(" \t");
    if (start == text.npos)
        return fail(0, whole, "empty", "for example `recv`, `libc:recv` or `ns::Class::method`");
    size_t end = text.find_last_not_of(" \t") + 1;

    ProbePattern pattern;
    pattern.text = text.substr(start, end - start);
    size_t colon = separator(text.substr(0, end));
    size_t name_at = start;
    if (colon != text.npos && colon >= start) {
        pattern.library = text.substr(start, colon - start);
        pattern.library_is_path = pattern.library.find('/') != std::string::npos;
        name_at = colon + 1;
        if (pattern.library.empty())
            return fail(colon, whole, "no library before the `:`");
        if (name_at >= end)
            return fail(colon, whole, "no function after the `:`");
    }
    std::string_view name = text.substr(name_at, end - name_at);
    // "f(int) [clone .isra.0]", as demanglers write it, is the function, but a coroutine has
    // several.
    if (const size_t clone = name.find(clone_word); clone != name.npos && name.ends_with(']')) {
        pattern.coroutine_part = coroutine_part(name.substr(clone + clone_word.size()));
        name = name.substr(0, clone);
    }
    if (name.starts_with("::")) { // the global namespace
        name.remove_prefix(2);
        name_at += 2;
    }
    if (name.empty())
        return fail(name_at, whole, "no function name");

    if (digit(name[0])) {
        pattern.address = number(name);
        if (!pattern.address)
            return fail(name_at, whole, "not an address", "addresses are written like 0x401136");
        if (name.starts_with("0x") || name.starts_with("0X"))
            return {std::move(pattern), std::nullopt};
        return fail(name_at, whole, "a function's name does not begin with a digit",
                    "an address is written with 0x");
    }

    NameShape shape = shape_of(name);
    if (shape.problem == name.npos && shape.plus != name.npos) {
        std::optional<uint64_t> offset = number(name.substr(shape.plus + 1));
        if (!offset)
            return fail(name_at + shape.plus + 1, whole, "the offset is not a number",
                        "for example main+0x10 or main+16");
        pattern.offset = *offset;
        name = name.substr(0, shape.plus);
        if (name.empty())
            return fail(name_at, whole, "no function before the offset");
        shape = shape_of(name);
        if (shape.plus != name.npos)
            return fail(name_at + shape.plus, whole, "a second offset");
    }
    if (shape.problem != name.npos)
        return fail(name_at + shape.problem, whole, shape.cause);
    pattern.function_is_glob = shape.glob;
    pattern.with_arguments = shape.arguments;
    pattern.function = shape.glob ? shape.escaped : std::string(name);
    return {std::move(pattern), std::nullopt};
}

} // namespace

ParsedProbe parse_probe(std::string_view text) {
    if (text.size() > text_limit)
        return fail(text_limit, text.substr(0, 64), "longer than 4096 bytes");
    const size_t start = std::min(text.find_first_not_of(" \t"), text.size());
    const size_t end = text.find_last_not_of(" \t") + 1;
    const std::string_view trimmed = text.substr(start, end - std::min(start, end));
    if (trimmed.starts_with(usdt_prefix))
        return parse_usdt(trimmed, start);
    if (trimmed.starts_with(tracepoint_prefix))
        return parse_tracepoint(trimmed, start);
    if (const Language* const language = language_of(trimmed))
        return parse_native(*language, trimmed, start);
    ParsedSourcePlace source = parse_source_place(trimmed, separator(trimmed));
    if (source.error)
        return fail(start + source.error->position, text, source.error->cause, source.error->hint);
    if (!source.place)
        return parse_function(text, text);
    ParsedProbe parsed{ProbePattern{}, std::nullopt};
    if (source.place->at) {
        parsed = parse_function(text.substr(0, start + *source.place->at), text);
        if (parsed.error)
            return parsed;
        if (parsed.pattern->address || parsed.pattern->offset)
            return fail(start + *source.place->at, text,
                        "a call site is of a function, not of an address",
                        "write the function's name");
        parsed.pattern->call_site = true;
    }
    parsed.pattern->text = trimmed;
    parsed.pattern->file = std::move(source.place->file);
    parsed.pattern->line = source.place->line;
    return parsed;
}

bool is_native_name(std::string_view text) {
    return language_of(text) != nullptr;
}

namespace {

// Matches one element of the glob at `g` against `c`; moves `g` behind the element.
bool element_matches(std::string_view glob, size_t& g, char c) {
    if (glob[g] == '?')
        return ++g, true;
    if (glob[g] == '\\' && g + 1 < glob.size()) {
        g += 2;
        return glob[g - 1] == c;
    }
    size_t close = glob[g] == '[' ? glob.find(']', g + 2) : glob.npos;
    if (close == glob.npos)
        return glob[g++] == c;
    size_t at = g + 1;
    bool negated = glob[at] == '!' || glob[at] == '^';
    if (negated && ++at == close) { // `[!]...`: the bracket is a member
        close = glob.find(']', close + 1);
        if (close == glob.npos)
            return glob[g++] == c;
    }
    bool found = false;
    for (; at < close; ++at) {
        if (at + 2 < close && glob[at + 1] == '-') {
            found |= glob[at] <= c && c <= glob[at + 2];
            at += 2;
        } else {
            found |= glob[at] == c;
        }
    }
    g = close + 1;
    return found != negated;
}

} // namespace

// Going back to the last star only keeps this linear in practice and at worst the product of both
// lengths.
bool glob_match(std::string_view glob, std::string_view text) {
    size_t g = 0, t = 0;
    size_t star = glob.npos, star_text = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            star_text = t;
            continue;
        }
        if (g < glob.size() && element_matches(glob, g, text[t])) {
            ++t;
            continue;
        }
        if (star == glob.npos)
            return false;
        g = star + 1;
        t = ++star_text;
    }
    while (g < glob.size() && glob[g] == '*')
        ++g;
    return g == glob.size();
}

bool is_place(const ProbePattern& pattern) {
    return pattern.usdt() || pattern.tracepoint() || pattern.offset ||
           (pattern.line && !pattern.call_site);
}

Error not_found(const ProbePattern& pattern, std::string cause, std::string hint) {
    const char* operation = pattern.usdt()         ? "find USDT probe"
                            : pattern.tracepoint() ? "find tracepoint"
                            : pattern.call_site    ? "find call"
                            : pattern.line         ? "find line"
                                                   : "find function";
    return {operation, pattern.text, std::move(cause), std::move(hint), Error::Kind::failed};
}

} // namespace auger
