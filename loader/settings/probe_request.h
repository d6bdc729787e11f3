// SPDX-License-Identifier: GPL-3.0-or-later
// A probe as the user asks for it. Changes when more can be asked of one.
#pragma once

#include "loader/base/ids.h"
#include "loader/settings/span_definition.h"
#include "loader/stream/events.h"

#include <string>

namespace auger {

struct ProbeRequest {
    ProbeId id;       // chosen by the caller, never used before
    std::string text; // "libc:recv", "ns::Class::method", "handle*", "f+0x10"
    Threshold slow{}; // kind none: only timed
    CallConditions conditions{};
    SpanDefinition span{}; // `text` is its name; empty: calls of what `text` matches
};

} // namespace auger
