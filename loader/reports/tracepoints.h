// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel's tracepoints. Changes when more is told of one.
#pragma once

#include <string>
#include <vector>

namespace auger {

struct TracepointInfo {
    struct Field {
        std::string type; // as its format file has it
        std::string name;
    };
    std::string category, name;
    std::vector<Field> fields;
    std::string ends_at; // the name of what ends what begins here; empty: none
    std::string fault;   // why its fields are not known; empty: they are
};

struct Tracepoints {
    std::vector<TracepointInfo> tracepoints; // by category and name
};

} // namespace auger
