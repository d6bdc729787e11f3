// SPDX-License-Identifier: GPL-3.0-or-later
// From a line to commands made of words, as a shell or gdb user would expect it:
//
//     split handle > p95; wait 5s     ';' separates commands, '#' begins a comment
//     time 'operator new' "a\tb"      quotes; \ escapes in "..." and outside of quotes
//     time ns::f(int, std::map<a, b>) blanks inside open brackets belong to the word
//     hist #2                         a probe by its number ('#' and digits after a command's name)
//     wait until calls f>=10          needs blanks before '>': C++ names contain it
//     rewrite frame /(\w+); x/ "a\1"  an expression, behind `frame` or `thread`: everything up to
//     the
//                                     next '/' without a '\'; behind it '\' outside of quotes stays
#pragma once

#include "repl/language/complaint.h"
#include "views/spell.h"

#include <string>
#include <vector>

namespace auger {

struct Word {
    std::string text; // without quotes and escapes
    Span span;        // as written
    bool quoted = false;
    bool comparison = false; // one of > >= < <= == != written bare
    bool expression = false; // stood between '/' and '/', which `text` is without
};

struct CommandText {
    std::vector<Word> words; // at least one
};

inline constexpr size_t line_limit = 65536; // bytes

// What separates words.
inline bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

// Splits one line. Complains about unclosed quotes, control characters and bytes that are no UTF-8.
Parsed<std::vector<CommandText>> lex(std::string_view line);

} // namespace auger
