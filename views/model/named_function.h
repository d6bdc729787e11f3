// SPDX-License-Identifier: GPL-3.0-or-later
// A function on stacks, as somebody names it who has seen it or has written it: "parse",
// "ns::Parser::parse", "libc:recv" (of a file), "py:app.handler" (of a language: of the module app,
// or of a class of that name), "java:Orders.place", "rb:Orders#total".
#pragma once

#include "views/model/symbol_tables.h"

#include <string>
#include <string_view>

namespace auger {

class NamedFunction {
  public:
    explicit NamedFunction(std::string_view text);

    // Whether a frame is of it. Names come late: what was none may be one later.
    bool is(const SymbolTables&, const FrameEntry&) const;

    // Whether the text begins with a language and a colon.
    static bool has_language(std::string_view text);

  private:
    bool is_in_scope(const SymbolTables&, FunctionId, std::string_view language) const;

    std::string scope_; // a language, or a file's name; empty: any
    std::string name_;
};

} // namespace auger
