// SPDX-License-Identifier: GPL-3.0-or-later
// Frames that are no function of a file: what they are, and what they are called where they were
// written. Runtimes name what they generate in ways of their own.
#pragma once

#include "views/model/symbol_tables.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// "JS:*handle /srv/app.js:12:3" and "LazyCompile:~handle app.js:12" -> "handle" (V8),
// "py::do_GET:/srv/app.py" -> "do_GET" (CPython). Empty: it is none of these.
std::string_view source_name(std::string_view raw);
// The file that such a name holds: "/srv/app.js", "/srv/app.py". Empty: it holds none.
std::string_view source_file(std::string_view raw);

// Languages whose functions runtimes execute, as they are named before a colon: "py:app.handler".
inline constexpr std::array<std::string_view, 6> languages = {"py",  "java", "js",
                                                              "php", "rb",   "perl"};
// Which of them a function is of. Empty: of none.
std::string_view language_of(const SymbolTables&, FunctionId);

// "a JavaScript function, which node compiles at run time", "a function of the kernel", "inlined
// wherever it was seen". Empty: a function of a file, with code of its own.
std::string why_no_probe(const SymbolTables&, FunctionId);
// Whether no address was seen that is this function's own, and not that of one around it.
bool only_inlined(const SymbolTables&, FunctionId);

// Shown functions that somebody may mean who writes this text: by any of their names, exactly.
std::vector<FunctionId> functions_meant(const SymbolTables&, std::string_view text);
// The same, else those whose name has the text as a whole word, else that hold it. At most `most`.
std::vector<FunctionId> functions_like(const SymbolTables&, std::string_view text, size_t most);

} // namespace auger
