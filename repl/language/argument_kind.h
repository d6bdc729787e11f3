// SPDX-License-Identifier: GPL-3.0-or-later
// What may stand at one place of a command's arguments, for completion.
#pragma once

#include <string_view>

namespace auger {

struct ArgumentKind {
    // Behind this word, wherever it stands; such kinds come last. Empty: by its place.
    std::string_view after = {};
    bool probe = false;    // probes that exist
    bool function = false; // functions of the target
    bool file = false;
    bool command = false;
    std::string_view words = {}; // separated by blanks
};

} // namespace auger
