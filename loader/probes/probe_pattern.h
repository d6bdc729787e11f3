// SPDX-License-Identifier: GPL-3.0-or-later
// ProbePattern: what a user writes for a probe, taken apart. `recv`, `libc:recv`,
// `/opt/app/bin/x:handle`, `ns::Class::method`, `ns::f(int, char const*)`, `*parse*`, `f+0x10`,
// `0x401136`; a call site `recv@main.cc:1312`, or every one of them `recv@*`; a line
// `main.cc:1290`; a USDT probe `usdt:postgresql:query__start`, `usdt:libc:libc:setjmp`; a
// tracepoint of the kernel's `tracepoint:block:block_rq_issue`; a function of C that a language has
// a name for `py:zlib.compress`, `php:PDO::query`. One colon separates a library from a function,
// two belong to a name.
#pragma once

#include "loader/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

// What compilers make of a coroutine: its body is `actor` to GCC and `resume` to Clang.
inline constexpr std::string_view coroutine_parts[] = {"actor", "resume", "destroy", "cleanup"};

struct ProbePattern {
    std::string text;             // as written
    std::string library;          // empty: not named. A glob (`libssl*`), soname or path
    std::string function;         // name or glob; empty for an address or a line
    bool library_is_path = false; // `library` has a '/'
    bool function_is_glob = false;
    bool with_arguments = false; // the name has an argument list: only that overload
    // Of the functions that a compiler makes of a C++ coroutine the one that it names so, of
    // coroutine_parts; empty: any.
    std::string coroutine_part{};
    uint64_t offset = 0;             // `function+0x10`, bytes
    std::optional<uint64_t> address; // `0x401136`: as linked, in the main program or `library`
    bool call_site = false;          // calls of `function` from one line, or from anywhere
    std::string file;                // source file, or the last components of its path
    uint32_t line = 0;               // in `file`, from 1; 0: none
    std::string provider{};          // of a USDT probe, name or glob; empty: it is none. Its name
                                     // stands in `function`

    std::string category{}; // of a tracepoint, name or glob; likewise
    std::string language{}; // that `function` is a name in: "py" or "php"; empty: in none

    bool usdt() const { return !provider.empty(); }
    bool tracepoint() const { return !category.empty(); }
    // `kernel:tcp_sendmsg`
    bool kernel_function() const { return library == "kernel"; }
};

// Whether it is a name that a language has for a function written in C: `language` is set.
bool is_native_name(std::string_view text);

// Whether what it means is a place that is reached, as far as the text tells: there are no calls of
// it, which would have a duration.
bool is_place(const ProbePattern& pattern);

struct ProbeSyntaxError {
    size_t position; // byte in the text
    Error error;
};

// A Result-like pair of which exactly one is set.
struct ParsedProbe {
    std::optional<ProbePattern> pattern;
    std::optional<ProbeSyntaxError> error;
};

ParsedProbe parse_probe(std::string_view text);

// Shell-like: * ? [a-z] [!a-z]; \ takes the next character as it is. `*` matches anything.
bool glob_match(std::string_view glob, std::string_view text);

// Why what the pattern means cannot be found.
Error not_found(const ProbePattern& pattern, std::string cause, std::string hint = {});

} // namespace auger
