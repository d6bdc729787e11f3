// SPDX-License-Identifier: GPL-3.0-or-later
// A program run to its end, with all that it said.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace auger::test {

struct Surroundings {
    std::string input = {}; // all of standard input, through a pipe
    // In the child, last before the program begins: to close descriptors, give up rights, mount.
    // Returns false when that cannot be had.
    std::function<bool()> prepare = [] { return true; };
};

struct Outcome {
    static constexpr int not_prepared = 126; // Surroundings::prepare returned false
    int code = 0;                            // exit code, or 128 and the signal's number
    std::string out, err;
};

// `command[0]` is a path. The file is opened before the child gives up rights, so that the
// folders above it need not be open to everybody. Throws (failing the test) when the program cannot
// be started or does not end within a generous limit.
Outcome run(std::vector<std::string> command, const Surroundings& surroundings = {});

} // namespace auger::test
