// SPDX-License-Identifier: GPL-3.0-or-later
// Short ways to ask for one thing.
#pragma once

#include "loader/values/call_program.h"

#include <string>
#include <utility>
#include <vector>

namespace auger::test {

inline ProgramRequest shows(std::vector<std::string> show) {
    ProgramRequest request;
    request.traces_slow = true;
    request.conditions.show = std::move(show);
    return request;
}

inline ProgramRequest only_if(std::string text) {
    ProgramRequest request;
    request.conditions.only_if = std::move(text);
    return request;
}

inline ProgramRequest split_by(std::string text) {
    ProgramRequest request;
    request.split_by = std::move(text);
    return request;
}

} // namespace auger::test
