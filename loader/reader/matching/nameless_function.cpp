// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/nameless_function.h"

#include "loader/probes/module_name.h"
#include "loader/reader/matching/own_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace auger {

std::optional<NamelessFunction> find_nameless(const ProbeModule& module, uint64_t address) {
    std::optional<OwnFunctions> read_now;
    const OwnFunctions& own =
        module.debug ? module.debug->own_functions() : read_now.emplace(module.index->file());
    const auto behind =
        std::ranges::upper_bound(own.all(), address, {}, &FunctionBounds::Bounds::begin);
    if (behind == own.all().begin())
        return std::nullopt;
    const auto [begin, end] = *std::prev(behind);
    if (address >= end)
        return std::nullopt;
    return NamelessFunction{{begin, end - begin, 0, 0, false, false},
                            fmt::format("{}+{:#x}", module_base_name(module.path), begin)};
}

} // namespace auger
