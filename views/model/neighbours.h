// SPDX-License-Identifier: GPL-3.0-or-later
// Who calls a function, and what it calls, at once.
#pragma once

#include "views/model/function_pass.h"

#include <string_view>

namespace auger {

struct Neighbours {
    ClassSums function;                   // with the function on the stack
    ClassSums none;                       // as FunctionPass::none
    std::vector<FunctionSums> neighbours; // as FunctionPass::functions; most time first
};
Neighbours sum_neighbours(const Model&, const Window&, const ClassFilter&, const FunctionFocus&,
                          FrameChoice frames = FrameChoice::all);

// The functions that are named best (see NameMatch). "LIBRARY:NAME" is that of one file.
std::vector<FunctionId> find_functions(const SymbolTables&, std::string_view text);

} // namespace auger
