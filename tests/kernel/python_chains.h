// SPDX-License-Identifier: GPL-3.0-or-later
// What tests/programs/python_chains.py says of its chains of calls, and what samples say.
#pragma once

#include "tests/kernel/session.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace auger::test {

struct PythonFrame {
    std::string function, file;
    uint32_t line = 0;
    friend bool operator==(const PythonFrame&, const PythonFrame&) = default;
};

// A time in which a thread's chain was this one.
struct PythonStretch {
    std::string phase;
    uint32_t pid = 0, tid = 0;
    uint64_t begin_ns = 0, end_ns = 0;
    std::vector<PythonFrame> chain;         // outermost first
    uint32_t first_line = 0, last_line = 0; // of the innermost function
    std::vector<std::string> inner;         // that it may be calling, in this order
};

std::vector<PythonStretch> read_python_stretches(const std::string& path);

// A sample's stack.
struct PythonStack {
    std::vector<PythonFrame> chain; // of Python only, outermost first
    bool cut = false;               // or unreadable: says itself that it is not all
    bool placed = true;             // each frame of Python has a native one further in, and none is
                                    // outermost
    std::string text;               // all of it, outermost first
};

PythonStack look_at_python(Session& session, StackId stack);

// Whether what is seen is the innermost part of the chain, but for the innermost line.
bool is_innermost_part(const PythonStack& seen, const PythonStretch& truth);

enum class Agreement { equal, lacking, wrong };
Agreement compare(const PythonStack& seen, const PythonStretch& truth);

struct PhaseCounts {
    uint64_t equal = 0, lacking = 0, wrong = 0;
    std::map<std::string, uint64_t> causes{}; // of those that lack something, what their stacks say
    uint64_t all() const { return equal + lacking + wrong; }
};

// Of the samples within each phase's stretches how many have its chain. `wrong`: some texts.
std::map<std::string, PhaseCounts> count_phases(Session& session,
                                                const std::vector<PythonStretch>& stretches,
                                                std::vector<std::string>& wrong);

// /usr/bin/python3, and what AUGER_PYTHONS names, separated by colons.
std::vector<std::string> pythons();

} // namespace auger::test
