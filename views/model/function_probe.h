// SPDX-License-Identifier: GPL-3.0-or-later
// From a function that was sampled to the probe that times it.
#pragma once

#include "views/model/model.h"

#include <string>

namespace auger {

// "libc.so.6+0x10a990" stands for what has no symbol, or whose names are still being read.
bool is_an_address(const SymbolTables&, FunctionId);

// It belongs to what programs are linked with and call back from: the C and C++ libraries, a
// language's runtime.
bool is_of_runtime(const SymbolTables&, FunctionId);

// The probe that times the function, if one does; the newest of several.
const ProbeInfo* probe_of(const Model&, FunctionId shown);

// A function as it was found, in the form that `time` takes, before quoting: "handle", "libc:recv".
std::string probe_text_of(const Model&, FunctionId found);

} // namespace auger
