// SPDX-License-Identifier: GPL-3.0-or-later
// Where the frames of a path lie in a stack of addresses. Names come later than addresses, and
// inlined frames later still; addresses stay.
#pragma once

#include "views/model/symbol_tables.h"

#include <optional>
#include <vector>

namespace auger {

class StackAnchor {
  public:
    // Of a path from the root on; nothing where the stack's frames have other names by now.
    static std::optional<StackAnchor> of(const SymbolTables&, StackId,
                                         const std::vector<FunctionId>& path);

    struct Renamed {
        std::vector<FunctionId> path;
        std::vector<size_t> now; // by place in the path before: the one in this
    };
    Renamed renamed(const SymbolTables&) const;
    // The same of a path that renamed() gave.
    std::optional<StackAnchor> of(const SymbolTables&, const std::vector<FunctionId>& path) const;

  private:
    struct Place {
        size_t location = 0; // in the stack, from the root
        size_t frame = 0;    // of the location, from the outermost
    };

    static std::optional<StackAnchor> make(const SymbolTables&, std::vector<LocationId> stack,
                                           const std::vector<FunctionId>& path);

    std::vector<LocationId> stack_; // leaf first
    std::vector<Place> places_;
};

} // namespace auger
