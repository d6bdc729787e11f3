// SPDX-License-Identifier: GPL-3.0-or-later
// Reading all code of a file for what leaves the stack that it runs on
// (loader/reader/code/stack_switch.h).
#pragma once

#include "loader/reader/code/stack_switch.h"
#include "loader/reader/elf/elf_file.h"

#include <cstdint>
#include <string>

namespace auger {

struct ModuleSwitches {
    enum class Verdict : uint8_t {
        none,     // all code was read, and none does
        found,    // `at` does, or may
        too_much, // more code than is worth reading
        unreadable,
    };
    Verdict verdict;
    StackSwitch at{};

    bool operator==(const ModuleSwitches& other) const {
        return verdict == other.verdict && at.cause == other.at.cause &&
               at.address == other.at.address;
    }
};

// Takes some ten milliseconds per MB of code.
ModuleSwitches find_switches(const ElfFile& file);

// What speaks against the file, to go on after its name; empty when nothing does.
std::string text_of(const ModuleSwitches& switches, const ElfFile& file);

} // namespace auger
