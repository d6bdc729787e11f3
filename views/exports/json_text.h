// SPDX-License-Identifier: GPL-3.0-or-later
// Strings and numbers of JSON, for exports that are too large to be put together as one document.
#pragma once

#include <string>
#include <string_view>

namespace auger {

// In quotes; whatever a target has in its names, it is valid UTF-8.
std::string json_text(std::string_view raw);
// Without an exponent; whole numbers as such. What is not finite is null.
std::string json_number(double value);

} // namespace auger
