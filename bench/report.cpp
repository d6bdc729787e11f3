// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace auger::bench {

double quantile(Series values, double share) {
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    double place = share * static_cast<double>(values.size() - 1);
    auto below = static_cast<size_t>(place);
    size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

Series ratios(const Series& numerators, const Series& denominators) {
    Series result;
    for (size_t i = 0; i < std::min(numerators.size(), denominators.size()); i++)
        result.push_back(numerators[i] / denominators[i]);
    return result;
}

namespace {

// Three digits that count.
std::string number(double value, const char* unit) {
    int digits =
        value == 0 ? 0 : std::clamp(2 - static_cast<int>(std::log10(std::abs(value))), 0, 3);
    return fmt::format("{:.{}f} {}", value, digits, unit);
}

constexpr int code_of_missed_aims = 4, code_of_missing_figures = 1;
bool missed = false, missing = false;

std::string verdict(double value, std::optional<double> aim, const std::string& shown_aim) {
    return aim ? fmt::format("{} {}", shown_aim, bench::verdict(value <= *aim)) : "";
}

} // namespace

const char* verdict(bool met) {
    missed = missed || !met;
    return met ? "met" : "**missed**";
}

int exit_code() {
    if (missed)
        return code_of_missed_aims;
    return missing ? code_of_missing_figures : 0;
}

void begin_table(const std::string& title, const std::string& about, const std::string& first,
                 const std::string& second) {
    fmt::print(
        "\n### {}\n{}\n\n| | {} | {} | ratio | quartiles | aim |\n|---|--:|--:|--:|---|---|\n",
        title, about, first, second);
    std::fflush(stdout);
}

void print_row(const std::string& what, const Series& first, const Series& second, const char* unit,
               std::optional<double> aim) {
    Series each = ratios(first, second);
    double ratio = median(each);
    fmt::print("| {} | {} | {} | {:.3f} | {:.3f}-{:.3f} | {} |\n", what,
               number(median(first), unit), number(median(second), unit), ratio,
               quantile(each, 0.25), quantile(each, 0.75),
               verdict(ratio, aim, aim ? fmt::format("{:.2f}", *aim) : ""));
    std::fflush(stdout);
}

void print_absolute(const std::string& what, const Series& values, const char* unit,
                    std::optional<double> aim) {
    fmt::print("| {} | {} | | | {}-{} | {} |\n", what, number(median(values), unit),
               number(quantile(values, 0.25), unit), number(quantile(values, 0.75), unit),
               verdict(median(values), aim, aim ? number(*aim, unit) : ""));
    std::fflush(stdout);
}

void print_skipped(const std::string& what, const std::string& reason) {
    missing = true;
    fmt::print("| {} | | | | not measured: {} | |\n", what, reason);
    std::fflush(stdout);
}

} // namespace auger::bench
