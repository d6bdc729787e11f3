// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions on stacks: which functions are on them.
#pragma once

#include "views/model/named_function.h"

#include <optional>
#include <string>
#include <vector>

namespace auger {

// `only in py:app.handler and not in py:app.log`.
struct StackCondition {
    std::vector<std::string> functions; // see NamedFunction; at most Gate::most_terms
    std::vector<Clause> clauses;        // of them, as a gate's; empty: every stack fulfils it

    bool empty() const { return clauses.empty(); }
    friend bool operator==(const StackCondition&, const StackCondition&) = default;
};

// Whether stacks fulfil a condition. What locations are called is looked at once, and anew when
// names come.
class StackTest {
  public:
    StackTest(const SymbolTables& symbols, StackCondition condition);

    bool operator()(StackId) const;
    // Whether a function that it names was seen on any stack.
    bool names_any() const;

  private:
    using Bits = uint32_t;                    // of functions
    static constexpr Bits unknown = 1u << 31; // what is on a location has not been looked at

    Bits bits_of(LocationId) const;
    Bits find_bits(LocationId) const;

    const SymbolTables& symbols_;
    std::vector<NamedFunction> functions_;
    std::vector<Clause> clauses_;
    mutable std::vector<Bits> of_location_;
    mutable uint64_t names_version_ = 0;
};

} // namespace auger
