// SPDX-License-Identifier: GPL-3.0-or-later
// `flame under NAME`: only what lies in the frames of one name, without their callers.
#pragma once

#include "views/model/symbol_tables.h"

#include <string>
#include <string_view>
#include <vector>

namespace auger {

class FramesUnder {
  public:
    // A function, in full or as views shorten it, or a label. An empty name cuts nothing.
    FramesUnder(const SymbolTables& symbols, std::string name)
        : symbols_(symbols), name_(std::move(name)) {}

    // Takes the callers of the outermost such frame out of a path, root first. False when there is
    // no such frame.
    bool cut(std::string_view label, std::vector<FunctionId>& path);

  private:
    bool named(FunctionId);

    const SymbolTables& symbols_;
    std::string name_;
    std::vector<int8_t> known_; // by function; -1: not looked at yet
};

} // namespace auger
