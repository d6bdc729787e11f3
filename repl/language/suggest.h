// SPDX-License-Identifier: GPL-3.0-or-later
// "did you mean ...?": the known word that is the fewest typing errors away.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// The nearest of `known`, when it is near enough to be what was meant; else empty.
std::string nearest(std::string_view word, std::span<const std::string> known);

// `did you mean "slow"?`, or empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

} // namespace auger
