// SPDX-License-Identifier: GPL-3.0-or-later
// Student's t distribution, as far as a two-sided test and a confidence interval need it.
#pragma once

namespace auger {

// The probability of a |t| at least this large with `df` degrees of freedom (> 0).
double student_two_sided_p(double t, double df);
// The |t| that is exceeded with probability `p` in (0, 1), two-sided.
double student_two_sided_t(double p, double df);

} // namespace auger
