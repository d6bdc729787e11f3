// SPDX-License-Identifier: GPL-3.0-or-later
// What `help` explains beside commands: what several of them have in common.
#pragma once

#include <span>
#include <string_view>

namespace auger {

struct HelpTopic {
    std::string_view name;
    std::string_view summary; // one line
    std::string_view text;    // as wrap_help() reads it
};

std::span<const HelpTopic> help_topics();

} // namespace auger
