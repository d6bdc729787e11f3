// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/own_functions.h"

#include <algorithm>
#include <utility>

namespace auger {

OwnFunctions::OwnFunctions(const ElfFile& file) : functions_(FunctionBounds(file).all()) {
    for (const ElfFunction& symbol : file.functions())
        functions_.push_back({symbol.address, symbol.address + symbol.size});
    if (file.entry())
        functions_.push_back({file.entry(), file.entry()});
    std::ranges::sort(functions_, {}, [](const FunctionBounds::Bounds& function) {
        return std::pair(function.begin, function.end);
    });
}

Result<uint64_t> OwnFunctions::size_at(uint64_t address) const {
    const auto [first, behind] =
        std::ranges::equal_range(functions_, address, {}, &FunctionBounds::Bounds::begin);
    if (first == behind)
        return Error{"place probe",
                     {},
                     "is known from a separate debug file only: neither a symbol nor call frame "
                     "information of the file itself has a function there",
                     "time an exported function, or build the program with "
                     "-fasynchronous-unwind-tables"};
    const FunctionBounds::Bounds& longest = *std::prev(behind);
    return longest.end > longest.begin ? longest.end - longest.begin : 0;
}

} // namespace auger
