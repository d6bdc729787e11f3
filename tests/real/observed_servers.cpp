// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/observed_servers.h"

namespace auger::test {

double share_of_class(const json& flame, const std::string& in_class,
                      const std::function<bool(const std::string&)>& is_such) {
    double all = 0, such = 0;
    for (const json& stack : flame["stacks"]) {
        if (stack["class"] != in_class)
            continue;
        const double samples = stack["samples"];
        all += samples;
        if (std::ranges::any_of(stack["stack"], [&](const json& function) {
                return is_such(function.get<std::string>());
            }))
            such += samples;
    }
    return all == 0 ? 0 : such / all;
}

} // namespace auger::test
