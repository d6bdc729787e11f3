// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/runtimes/find_loop_code.h"

#include "loader/reader/code/function_code.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace auger {
namespace {

using Bounds = FunctionBounds::Bounds;

constexpr size_t loop_limit = 1 << 20; // bytes of the function that are looked through

// Of a function the part that the compiler has put elsewhere. Symbols of such parts are stripped,
// but they are functions to call frame information, and the function jumps into their middle, as it
// does into no other function.
void find_cold_part(const ElfFile& file, const FunctionBounds& functions, LoopCode& code) {
    const auto bytes = file.read_code(code.body, std::min<uint64_t>(code.body_size, loop_limit));
    std::map<uint64_t, size_t> jumps; // into the middle, by the begin of what holds it
    for (const uint64_t target : leaving_jumps({code.body, bytes})) {
        const Bounds* const part = bounds_around(functions, target);
        if (part && part->begin != target && part->begin != code.body)
            jumps[part->begin]++;
    }
    if (jumps.empty())
        return;
    const auto most =
        std::ranges::max_element(jumps, {}, &std::pair<const uint64_t, size_t>::second);
    const Bounds* const part = bounds_around(functions, most->first);
    code.cold = part->begin;
    code.cold_size = part->end - part->begin;
}

} // namespace

const Bounds* bounds_around(const FunctionBounds& functions, uint64_t address) {
    const auto behind = std::ranges::upper_bound(functions.all(), address, {}, &Bounds::begin);
    if (behind == functions.all().begin() || address >= std::prev(behind)->end)
        return nullptr;
    return &*std::prev(behind);
}

LoopCode find_loop_code(const ElfFile& file, const FunctionBounds& functions, uint64_t address,
                        std::string_view name) {
    LoopCode code;
    code.body = address;
    const Bounds* const bounds = bounds_around(functions, address);
    if (bounds && bounds->begin == address) {
        code.body_size = bounds->end - address;
    } else {
        for (const ElfFunction& function : file.functions())
            if (function.address == address && function.name == name)
                code.body_size = function.size;
    }
    find_cold_part(file, functions, code);
    return code;
}

} // namespace auger
