// SPDX-License-Identifier: GPL-3.0-or-later
// Where programs listen. Changes when more is told of such a place.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace auger {

struct Listener {
    uint16_t port = 0;     // by TCP
    std::string unix_path; // else: raw, "@NAME" where it is no file

    friend auto operator<=>(const Listener&, const Listener&) = default;
};

struct Listeners {
    std::vector<Listener> places; // ascending, each once
};

} // namespace auger
