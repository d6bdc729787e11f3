// SPDX-License-Identifier: GPL-3.0-or-later
// By location and not by stack: ids of stacks are given to others while samples are gone through.
#include "views/model/stack_condition.h"

#include <algorithm>

namespace auger {

StackTest::StackTest(const SymbolTables& symbols, StackCondition condition)
    : symbols_(symbols), clauses_(std::move(condition.clauses)) {
    condition.functions.resize(std::min(condition.functions.size(), Gate::most_terms));
    for (const std::string& function : condition.functions)
        functions_.emplace_back(function);
}

bool StackTest::operator()(StackId stack) const {
    if (clauses_.empty())
        return true;
    Bits held = 0;
    for (const LocationId location : symbols_.stack(stack))
        held |= bits_of(location);
    const auto holds = [&](uint32_t function) { return (held >> function & 1) != 0; };
    return std::ranges::any_of(clauses_, [&](const Clause& clause) {
        return std::ranges::all_of(clause.all, holds) && std::ranges::none_of(clause.none, holds);
    });
}

bool StackTest::names_any() const {
    for (uint32_t i = 0; i < symbols_.locations(); i++)
        if (bits_of(LocationId{i}))
            return true;
    return false;
}

StackTest::Bits StackTest::bits_of(LocationId location) const {
    if (names_version_ != symbols_.names_version()) {
        of_location_.clear();
        names_version_ = symbols_.names_version();
    }
    if (location.index() >= symbols_.locations()) // a damaged stream
        return 0;
    if (location.index() >= of_location_.size())
        of_location_.resize(symbols_.locations(), unknown);
    Bits& bits = of_location_[location.index()];
    if (bits == unknown)
        bits = find_bits(location);
    return bits;
}

// By what rules show and by what was found: a rule that renames a function does not hide it.
StackTest::Bits StackTest::find_bits(LocationId location) const {
    Bits bits = 0;
    for (const auto frames : {symbols_.frames(location), symbols_.found_frames(location)})
        for (const FrameEntry& frame : frames)
            for (size_t i = 0; i < functions_.size(); i++)
                if (functions_[i].is(symbols_, frame))
                    bits |= Bits{1} << i;
    return bits;
}

} // namespace auger
