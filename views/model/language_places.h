// SPDX-License-Identifier: GPL-3.0-or-later
// Where the functions of an interpreted language are: their names alone seldom tell them apart.
#pragma once

#include "views/model/symbol_tables.h"

#include <string>
#include <unordered_map>

namespace auger {

class LanguagePlaces {
  public:
    // Looks at every location once.
    explicit LanguagePlaces(const SymbolTables&);

    // "app.py:42", or "app.py:42-57": the lines that were seen in it, the first and the last. Safe
    // to print. Empty: it is no function of such a language.
    std::string of(FunctionId) const;

  private:
    struct Place {
        StringId file;
        uint32_t first = 0, last = 0; // 0: no line is known
    };

    const SymbolTables& symbols_;
    std::unordered_map<FunctionId, Place> places_;
};

} // namespace auger
