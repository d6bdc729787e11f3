// SPDX-License-Identifier: GPL-3.0-or-later
// `flame under NAME`: only what lies in the frames of one name, without their callers. Under A;B;C
// (as collapsed stacks are written): in those calls of C alone that B makes when A has called it.
#pragma once

#include "views/model/symbol_tables.h"

#include <string>
#include <string_view>
#include <vector>

namespace auger {

class FramesUnder {
  public:
    // Functions, in full or as views shorten them; the first may be a label. An empty text cuts
    // nothing.
    FramesUnder(const SymbolTables& symbols, const std::string& text);

    // Takes the callers of the outermost such frame out of a path, root first. False when there is
    // no such frame.
    bool cut(std::string_view label, std::vector<FunctionId>& path);

    // What a function (or a label) is called in such a text.
    static std::string name_in_path(std::string_view raw);

  private:
    static constexpr size_t none = SIZE_MAX;
    struct Step {
        std::string name;
        std::vector<int8_t> known; // by function; -1: not looked at yet
    };

    bool is(size_t step, FunctionId);
    size_t end_of_match(size_t first_step, size_t at, const std::vector<FunctionId>& path);

    const SymbolTables& symbols_;
    std::vector<Step> steps_;
};

} // namespace auger
