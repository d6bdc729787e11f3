// SPDX-License-Identifier: GPL-3.0-or-later
// What the frames of a stack say that are no functions: which task ran, which label its goroutine
// had.
#pragma once

#include "views/model/symbol_tables.h"

#include <optional>
#include <string_view>

namespace auger {

// What stands in a frame of its own kind, "[task app.handle Task-17]", behind its first word
// (`begin`: "[task "), as it was found: rules are for functions. Empty: the stack has no such
// frame.
std::string_view text_in_stack(const SymbolTables& symbols, StackId stack, ModuleKind kind,
                               std::string_view begin);

// "route=/quote", or "route unreadable"; empty: none is known.
std::string_view go_label_text(const SymbolTables& symbols, StackId stack);

struct GoLabel {
    std::string_view key, value;
};
// Nothing also when it could not be read.
std::optional<GoLabel> go_label_of(const SymbolTables& symbols, StackId stack);

} // namespace auger
