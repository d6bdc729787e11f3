// SPDX-License-Identifier: GPL-3.0-or-later
// What a quantity of `assert` or `wait until` is now.
#pragma once

#include "repl/language/condition.h"
#include "views/model/model.h"

#include <optional>
#include <string>

namespace auger {

struct EvaluateContext {
    const Model& model;
    Window window;
    std::optional<ProbeId> probe; // of a quantity that is about one
    bool exited = false;
};

// The value in the quantity's unit (calls, ns, percent, Hz; exited: 0 or 1). Fails where there is
// no value: no split, no calls yet, an unknown function or cause.
Result<double> evaluate(const Quantity& quantity, const EvaluateContext& context);

// "1,234", "4.56 ms", "56.7 %"
std::string format_quantity(const Quantity& quantity, double value);

} // namespace auger
