// SPDX-License-Identifier: GPL-3.0-or-later
// Colours are those of the fixed part of the 256 (16 to 255), so that a terminal with direct
// colours shows the same ones.
#include "views/palette.h"

namespace auger {
namespace {

struct Shade {
    int many = -1;  // of 256 colours
    int eight = -1; // of 8
};

enum Eight { black = 0, red, green, yellow, blue, magenta, cyan, white };
constexpr Shade dark{16, black}, light{231, white};

struct TextLook {
    Shade colour{};
    bool bold = false, dim = false;
};

TextLook text_look(Style style) {
    switch (style) {
    case Style::plain:
    case Style::name:
        return {};
    case Style::dim:
        return {{245, -1}, false, true};
    case Style::title:
    case Style::number:
        return {{}, true};
    case Style::kernel:
        return {{139, magenta}};
    case Style::slow:
        return {{166, red}};
    case Style::fast:
        return {{36, cyan}};
    case Style::open:
        return {{136, yellow}};
    case Style::outside:
        return {{245, -1}};
    case Style::good:
        return {{32, cyan}};
    case Style::warning:
        return {{166, red}, true};
    }
    return {};
}

struct FillLook {
    Shade background{};
    Shade text{}; // readable on it
};

FillLook fill_look(Fill fill) {
    switch (fill) {
    case Fill::cpu:
        return {{214, yellow}, dark};
    case Fill::blocked:
        return {{74, blue}, {16, white}};
    case Fill::runnable:
        return {{228, cyan}, dark};
    case Fill::slow:
        return {{166, red}, {16, white}};
    case Fill::fast:
        return {{36, cyan}, dark};
    case Fill::open:
        return {{221, yellow}, dark};
    case Fill::outside:
        return {{250, white}, dark};
    case Fill::module0:
        return {{180, yellow}, dark};
    case Fill::module1:
        return {{110, blue}, {16, white}};
    case Fill::module2:
        return {{187, white}, dark};
    case Fill::module3:
        return {{139, magenta}, {16, white}};
    case Fill::module4:
        return {{73, cyan}, dark};
    case Fill::module5:
        return {{174, red}, {16, white}};
    case Fill::module6:
        return {{108, green}, dark};
    case Fill::module7:
        return {{211, red}, dark};
    case Fill::module8:
        return {{146, magenta}, dark};
    case Fill::more:
        return {{208, red}, {16, white}};
    case Fill::less:
        return {{75, blue}, {16, white}};
    case Fill::match:
        return {{227, yellow}, dark};
    case Fill::bar:
        return {{238, blue}, light};
    case Fill::none:
    case Fill::cursor: // the text's own colours, exchanged
        break;
    }
    return {};
}

// Of the colours 16 to 255: a cube of 6 levels, and 24 greys.
uint32_t rgb_of(int colour) {
    if (colour >= 232) {
        const auto grey = static_cast<uint32_t>(8 + 10 * (colour - 232));
        return grey << 16 | grey << 8 | grey;
    }
    if (colour < 16)
        return 0;
    const auto level = [](int step) { return static_cast<uint32_t>(step ? 55 + 40 * step : 0); };
    const int cube = colour - 16;
    return level(cube / 36) << 16 | level(cube / 6 % 6) << 8 | level(cube % 6);
}

// Without colours only what the user must not miss is marked.
CellLook without_colour(Style style, Fill fill) {
    const TextLook text = text_look(style);
    CellLook look;
    look.bold = text.bold || style == Style::slow || fill == Fill::slow || fill == Fill::cursor ||
                fill == Fill::match;
    look.dim = text.dim;
    look.underline = fill == Fill::match;
    look.reverse = fill == Fill::cursor || fill == Fill::bar;
    return look;
}

} // namespace

CellLook look_of(Style style, Fill fill, ColourMode mode) {
    if (mode == ColourMode::none)
        return without_colour(style, fill);
    const TextLook text = text_look(style);
    const FillLook behind = fill_look(fill);
    const bool filled = behind.background.many >= 0;
    const Shade front = filled ? behind.text : text.colour;
    CellLook look;
    look.foreground = mode == ColourMode::ansi8 ? front.eight : front.many;
    look.background = mode == ColourMode::ansi8 ? behind.background.eight : behind.background.many;
    look.foreground_rgb = rgb_of(front.many);
    look.background_rgb = rgb_of(behind.background.many);
    look.bold = text.bold || fill == Fill::match || fill == Fill::cursor;
    // On eight colours there is no grey.
    look.dim = text.dim && mode == ColourMode::ansi8 && !filled;
    look.reverse = fill == Fill::cursor;
    return look;
}

} // namespace auger
