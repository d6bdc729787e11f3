// SPDX-License-Identifier: GPL-3.0-or-later
// What the JSON of several views has in common: figures, sums, the split and its classes.
#pragma once

#include "views/model/class_table.h"

#include <nlohmann/json.hpp>

namespace auger::json_parts {

using Line = nlohmann::ordered_json; // fields in the order in which people read them

Line start(const char* command);
std::string finish(const Line& line);

// Whole numbers as such; only ewma windows have others, and infinity has no JSON.
Line number(double value);
Line nanoseconds(double value);
// Escaped; null when empty.
Line text_or_null(const std::string& text);
Line sums(const SampleSum& sum);
Line class_sums(const ClassSums& classes);
Line window_line(const Window& window);
// {"kind":"following","percentile":95,"ns":5230000,...}; null without a threshold.
Line threshold_line(const Threshold& threshold, const ThresholdState& state);
std::string probe_name(const Model& model, ProbeId id);
// What its times lack, and what to do; null: nothing.
Line tail_of_probe(const Model& model, ProbeId id);
Line split_line(const Model& model);
// Where the split has a branch or a value: "branch" and "labels", with samples and the calls that
// hold them by class; null else. Of the branch also the returned calls, as counted.
void put_combined(Line& line, const Model& model, const ClassTable& table, const Window& window);

} // namespace auger::json_parts
