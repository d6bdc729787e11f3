// SPDX-License-Identifier: GPL-3.0-or-later
// Slow calls and histograms as objects: one a line of the console's answers, and one of many in an
// exported document.
#pragma once

#include "views/json/json_parts.h"
#include "views/model/classifier.h"
#include "views/model/frame_choice.h"

namespace auger::json_parts {

// "stack" and "source" ("file:line", or null), leaf first.
void put_stack(Line& line, const Model& model, std::span<const LocationId> locations,
               const StackOptions& options = whole_stack);
void put_slow_call(Line& line, const Model& model, const Classifier& classify, const SlowCall& call,
                   const StackOptions& stack = whole_stack);
// Of the probe's returned calls; buckets are [from, to (not in it), calls].
void put_histogram(Line& line, const Model& model, const ProbeInfo& probe, const Window& window,
                   const std::optional<HostChoice>& host = {});

} // namespace auger::json_parts
