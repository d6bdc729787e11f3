// SPDX-License-Identifier: GPL-3.0-or-later
// find_outlined_parts: rarely run code of a function that the compiler moved away, in files whose
// `.cold` symbols were stripped. Such code is known by where it comes from: jumps lead there from
// the function, to no function that has a name, and it jumps back.
#pragma once

#include "loader/reader/code/function_code.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace auger {

struct CodeRange {
    uint64_t address; // as linked
    uint64_t size;    // bytes
};

// `named`: whether a known function holds the address. `read_code`: as ElfFile::read_code.
std::vector<CodeRange> find_outlined_parts(const CodePart& body,
                                           const std::function<bool(uint64_t address)>& named,
                                           const DataReader& read_code);

} // namespace auger
