// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of servers have in common: whether one is installed, and the shares of a flame.
#pragma once

#include "tests/cli/live_auger.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

namespace auger::test {

// Whether all `programs` of a class of servers are there.
template <typename Server>
bool is_installed() {
    return std::ranges::all_of(
        Server::programs, [](const char* program) { return std::filesystem::exists(program); });
}

// Of the samples of a class, by the answer of `flame`, those whose stack has such a function; 0
// where the class has none.
double share_of_class(const json& flame, const std::string& in_class,
                      const std::function<bool(const std::string&)>& is_such);

} // namespace auger::test
