// SPDX-License-Identifier: GPL-3.0-or-later
// The spans that are made of a program of which nothing is known but where it listens: what is
// asked and answered there.
#pragma once

#include "loader/reports/listeners.h"

#include <string>
#include <vector>

namespace auger {

// "port 8080", "unix /run/app.sock", as `exchanges` takes it.
std::string spell_listener(const Listener& listener);

struct ListenerSpan {
    std::string name;       // "requests"; "requests-8080" where there are several
    std::string definition; // "exchanges port 8080"
};
// One for each place, each with a name of its own.
std::vector<ListenerSpan> listener_spans(const Listeners& listeners);

// What a newcomer would do; empty where the target does not listen.
std::string listener_advice(const Listeners& listeners);

} // namespace auger
