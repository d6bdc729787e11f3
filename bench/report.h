// SPDX-License-Identifier: GPL-3.0-or-later
// What benches print: Markdown tables of ratios. Two things are measured in turn, A B A B, so that
// drift of the machine meets both; the ratio is the median over the rounds of A / B, and its
// quartiles say how noisy the machine was.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace auger::bench {

using Series = std::vector<double>; // one value a round

// The value below which `share` of the values lie; interpolated. 0 for no values.
double quantile(Series values, double share);
inline double median(const Series& values) {
    return quantile(values, 0.5);
}
// Round by round; as long as the shorter one.
Series ratios(const Series& numerators, const Series& denominators);

// A heading, a line on what the figures are, and the head of their table.
void begin_table(const std::string& title, const std::string& about, const std::string& first,
                 const std::string& second);
// A row: medians of both and of their ratio, with the aim if there is one (at most that).
void print_row(const std::string& what, const Series& first, const Series& second, const char* unit,
               std::optional<double> aim = {});
// A row of one absolute figure, with an aim in the same unit.
void print_absolute(const std::string& what, const Series& values, const char* unit,
                    std::optional<double> aim = {});
// A line that a figure is missing, and why; remembered for exit_code().
void print_skipped(const std::string& what, const std::string& reason);
// "met" or "missed", as the tables have it; remembered for exit_code().
const char* verdict(bool met);
// Of a bench that went to its end: 4 when an aim was missed, 1 when a figure is missing, else 0.
int exit_code();

} // namespace auger::bench
