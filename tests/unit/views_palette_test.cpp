// SPDX-License-Identifier: GPL-3.0-or-later
// The palette can be read, also by people who do not see all hues, and nothing is told by colour
// alone.
#include "views/palette.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace auger {
namespace {

using Linear = std::array<double, 3>; // red, green, blue; 0 to 1

Linear linear(uint32_t rgb) {
    Linear out;
    for (size_t i = 0; i < 3; i++) {
        const double c = (rgb >> (16 - 8 * i) & 0xff) / 255.0;
        out[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    }
    return out;
}

double luminance(const Linear& c) {
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

// As WCAG defines it; 4.5 is what it asks of text.
double contrast(uint32_t a, uint32_t b) {
    const double x = luminance(linear(a)), y = luminance(linear(b));
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

// How people without one kind of cone see a colour (Vienot, Brettel, Mollon 1999).
Linear seen(const Linear& c, char missing) {
    const double l = 17.8824 * c[0] + 43.5161 * c[1] + 4.11935 * c[2],
                 m = 3.45565 * c[0] + 27.1554 * c[1] + 3.86714 * c[2],
                 s = 0.0299566 * c[0] + 0.184309 * c[1] + 1.46709 * c[2];
    const double l2 = missing == 'p' ? 2.02344 * m - 2.52581 * s : l,
                 m2 = missing == 'd' ? 0.494207 * l + 1.24827 * s : m;
    return {0.080944 * l2 - 0.130504 * m2 + 0.116721 * s,
            -0.0102485 * l2 + 0.0540194 * m2 - 0.113615 * s,
            -0.000365294 * l2 - 0.00412163 * m2 + 0.693513 * s};
}

// Distance in CIELAB: 2 or 3 is just seen, 10 at a glance.
double distance(const Linear& a, const Linear& b) {
    const auto lab = [](const Linear& c) {
        const auto f = [](double t) {
            t = std::max(t, 0.0);
            return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116;
        };
        const double x = f((0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.9505),
                     y = f(luminance(c)),
                     z = f((0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.089);
        return Linear{116 * y - 16, 500 * (x - y), 200 * (y - z)};
    };
    const Linear p = lab(a), q = lab(b);
    return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

constexpr std::array all_fills = {Fill::bar,     Fill::cpu,     Fill::blocked, Fill::runnable,
                                  Fill::slow,    Fill::fast,    Fill::open,    Fill::outside,
                                  Fill::module0, Fill::module1, Fill::module2, Fill::module3,
                                  Fill::module4, Fill::module5, Fill::module6, Fill::module7,
                                  Fill::module8, Fill::more,    Fill::less,    Fill::match};

TEST(Palette, TextCanBeReadOnEveryFill) {
    for (Fill fill : all_fills) {
        for (ColourMode mode : {ColourMode::ansi256, ColourMode::truecolour}) {
            const CellLook look = look_of(Style::plain, fill, mode);
            EXPECT_GE(contrast(look.foreground_rgb, look.background_rgb), 4.5)
                << static_cast<int>(fill);
        }
        // On eight colours: never a colour on itself.
        const CellLook eight = look_of(Style::plain, fill, ColourMode::ansi8);
        EXPECT_NE(eight.foreground, eight.background) << static_cast<int>(fill);
        EXPECT_GE(eight.background, 0);
    }
}

TEST(Palette, WhatStandsSideBySideIsToldApartByAllEyes) {
    const std::vector<std::vector<Fill>> groups = {
        {Fill::cpu, Fill::blocked, Fill::runnable},
        {Fill::slow, Fill::fast, Fill::open, Fill::outside},
        {Fill::more, Fill::less}};
    for (const auto& group : groups) {
        for (size_t a = 0; a < group.size(); a++) {
            for (size_t b = a + 1; b < group.size(); b++) {
                const CellLook x = look_of(Style::plain, group[a], ColourMode::truecolour),
                               y = look_of(Style::plain, group[b], ColourMode::truecolour);
                const Linear p = linear(x.background_rgb), q = linear(y.background_rgb);
                EXPECT_GE(distance(p, q), 20) << a << " " << b;
                for (char missing : {'p', 'd'})
                    EXPECT_GE(distance(seen(p, missing), seen(q, missing)), 10)
                        << missing << ": fills " << static_cast<int>(group[a]) << " and "
                        << static_cast<int>(group[b]);
                EXPECT_NE(look_of(Style::plain, group[a], ColourMode::ansi8).background,
                          look_of(Style::plain, group[b], ColourMode::ansi8).background);
            }
        }
    }
}

// Text without a fill stands on the terminal's own background, black or white.
TEST(Palette, ColouredTextCanBeReadOnDarkAndLightTerminals) {
    for (Style style : {Style::dim, Style::kernel, Style::slow, Style::fast, Style::open,
                        Style::outside, Style::good, Style::warning}) {
        const CellLook look = look_of(style, Fill::none, ColourMode::truecolour);
        ASSERT_GE(look.foreground, 0);
        EXPECT_GE(contrast(look.foreground_rgb, 0x000000), 2.5) << static_cast<int>(style);
        EXPECT_GE(contrast(look.foreground_rgb, 0xffffff), 2.5) << static_cast<int>(style);
    }
}

TEST(Palette, WithoutColoursCursorAndMatchesAreSeen) {
    const CellLook plain = look_of(Style::plain, Fill::none, ColourMode::none);
    EXPECT_EQ(plain, CellLook{});
    EXPECT_TRUE(look_of(Style::plain, Fill::cursor, ColourMode::none).reverse);
    EXPECT_TRUE(look_of(Style::plain, Fill::match, ColourMode::none).underline);
    for (Fill fill : all_fills) {
        const CellLook look = look_of(Style::slow, fill, ColourMode::none);
        EXPECT_LT(look.foreground, 0);
        EXPECT_LT(look.background, 0);
    }
}

} // namespace
} // namespace auger
