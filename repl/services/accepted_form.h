// SPDX-License-Identifier: GPL-3.0-or-later
// In which form a scraper wants metrics: what its header `Accept` says. Pure.
#pragma once

#include <string_view>

namespace auger {

// Prometheus' messages, no less than text. Whoever does not ask for them gets text.
bool accepts_protobuf(std::string_view accept);

} // namespace auger
