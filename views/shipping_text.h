// SPDX-License-Identifier: GPL-3.0-or-later
// The account of shipping in words, for `status` and `ship`.
#pragma once

#include "views/shipping_status.h"

#include <string>
#include <vector>

namespace auger {

// "found 2 + written 10 = shipped 11 + refused 0 + given up 0 + waiting 1": of intervals, or of
// samples.
std::string shipping_sum(const ShippingStatus& status, uint64_t ShippingStatus::Count::*of);

// What there is to say beside it; not escaped.
std::vector<std::string> shipping_notes(const ShippingStatus& status);

} // namespace auger
