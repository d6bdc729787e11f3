// SPDX-License-Identifier: GPL-3.0-or-later
// What libdw says of a place in the code, worked out on a machine whose registers and memory hold
// numbers made up for the test; and the same by our rules. Equal rules give equal numbers, and
// different ones, but for a chance of one in 2^64, do not.
#pragma once

#include "bpf/unwind_table.h"

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace auger::test {

// Of the caller; nothing where it is undefined, or a machine that we do not play would be needed.
struct CallerFrame {
    bool outermost = false;
    bool signal = false;
    std::optional<uint64_t> cfa, rsp, rbp, rbx, return_address;
};

// Everything that DWARF can say is understood here.
CallerFrame caller_by_libdw(Dwarf_Frame* frame, uint64_t address, bool signal);
// As the kernel side does it.
CallerFrame caller_by_rule(const wire_unwind_rule& rule, uint64_t address);

} // namespace auger::test
