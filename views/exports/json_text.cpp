// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/json_text.h"

#include "views/escape.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace auger {

std::string json_text(std::string_view raw) {
    return nlohmann::json(escape_untrusted(raw)).dump();
}

std::string json_number(double value) {
    if (!std::isfinite(value))
        return "null";
    return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.3f}", value);
}

} // namespace auger
