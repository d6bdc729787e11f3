// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/format.h"

#include <cmath>
#include <fmt/format.h>

namespace auger {

namespace {

// Three significant digits: "1.23", "12.3", "123".
std::string three_digits(double value) {
    double size = std::abs(value);
    return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

} // namespace

std::string format_duration(double ns) {
    double size = std::abs(ns);
    if (!std::isfinite(ns))
        return "?";
    if (size < 999.5)
        return fmt::format("{:.0f} ns", ns + 0.0);
    if (size < 999.5e3)
        return three_digits(ns / 1e3) + " us";
    if (size < 999.5e6)
        return three_digits(ns / 1e6) + " ms";
    if (size < 119.5e9)
        return three_digits(ns / 1e9) + " s";
    std::string sign = ns < 0 ? "-" : "";
    auto seconds = static_cast<uint64_t>(std::llround(std::min(size, 9e18) / 1e9));
    if (seconds < 7200)
        return fmt::format("{}{} min {:02} s", sign, seconds / 60, seconds % 60);
    return fmt::format("{}{} h {:02} min", sign, seconds / 3600, seconds / 60 % 60);
}

std::string format_count(double count) {
    std::string digits = fmt::format("{:.0f}", count + 0.0);
    size_t first = digits[0] == '-' ? 1 : 0;
    for (size_t i = digits.size(); i > first + 3;) {
        i -= 3;
        digits.insert(i, ",");
    }
    return digits;
}

std::string format_percent(double share) {
    if (!std::isfinite(share))
        return "-";
    if (share > 0 && share < 0.0005)
        return "<0.1 %";
    if (share > 0.9995 && share < 1)
        return ">99.9 %";
    return fmt::format("{:.1f} %", share * 100);
}

std::string format_bytes(double bytes) {
    static const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < std::size(units); unit++)
        bytes /= 1000;
    return (unit ? three_digits(bytes) : fmt::format("{:.0f}", bytes)) + " " + units[unit];
}

std::string format_rate(double hz) {
    return fmt::format("{:.{}f} Hz", hz, hz < 1000 ? 1 : 0);
}

std::string format_threshold(const Threshold& threshold) {
    switch (threshold.kind) {
    case Threshold::Kind::fixed:
        return "> " + format_duration(static_cast<double>(threshold.fixed_ns));
    case Threshold::Kind::percentile:
        return fmt::format("> p{:g}", threshold.percentile);
    case Threshold::Kind::none:
        break;
    }
    return "";
}

std::string format_window(const Window& window, uint64_t first_ns) {
    std::string text = "all";
    std::string span = format_duration(static_cast<double>(window.span_ns));
    if (window.kind == Window::Kind::last)
        text = "last " + span;
    else if (window.kind == Window::Kind::ewma)
        text = "ewma " + span;
    if (window.end_ns) {
        uint64_t after = window.end_ns > first_ns ? window.end_ns - first_ns : 0;
        text += fmt::format(" until +{:.3f} s", static_cast<double>(after) / 1e9);
    }
    return text;
}

} // namespace auger
