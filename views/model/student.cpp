// SPDX-License-Identifier: GPL-3.0-or-later
// The regularised incomplete beta function by its continued fraction (Lentz's method).
#include "views/model/student.h"

#include <cmath>

namespace auger {

namespace {

double beta_fraction(double a, double b, double x) {
    constexpr double tiny = 1e-300;
    auto away_from_zero = [](double v) { return std::abs(v) < tiny ? tiny : v; };
    double c = 1;
    double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
    double result = d;
    for (int m = 1; m <= 300; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        result *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        result *= d * c;
        if (std::abs(d * c - 1) < 1e-12)
            break;
    }
    return result;
}

double incomplete_beta(double a, double b, double x) {
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) +
                            b * std::log1p(-x));
    // The fraction converges fast on one side only; the other follows by symmetry.
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

} // namespace

double student_two_sided_p(double t, double df) {
    if (std::isinf(t))
        return 0;
    return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double student_two_sided_t(double p, double df) {
    double low = 0, high = 2;
    while (student_two_sided_p(high, df) > p && high < 1e12)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        (student_two_sided_p(middle, df) > p ? low : high) = middle;
    }
    return (low + high) / 2;
}

} // namespace auger
