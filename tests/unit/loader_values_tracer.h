// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a program under ptrace and stops where its functions begin and return, so that values are
// read from real registers and real memory.
#pragma once

#include "tests/unit/loader_values_machine.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace auger::test {

struct Stop {
    pid_t pid;
    uint64_t function;
    unsigned call; // of the function, from 0
    bool returns;
    const Machine& machine; // at_end only when it returns
};

// Runs to its end; false when it could not. Addresses as linked: the program is not position
// independent.
bool trace(const std::string& program, const std::vector<uint64_t>& functions,
           const std::function<void(const Stop&)>& visit);

// What the program writes.
std::string output_of(const std::string& program);

} // namespace auger::test
