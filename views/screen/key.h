// SPDX-License-Identifier: GPL-3.0-or-later
// A key or mouse event, as a terminal has decoded it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace auger {

struct Key {
    enum class Code : uint8_t {
        character, // see `character`
        enter,
        escape,
        tab,
        back_tab,
        backspace,
        remove, // Del
        up,
        down,
        left,
        right,
        home,
        end,
        page_up,
        page_down,
        function,    // F1 ...: its number in `character`
        mouse_press, // of the first button, at x, y
        mouse_double,
        wheel_up,
        wheel_down,
    };
    Code code = Code::character;
    char32_t character = 0; // with `control`: the small letter
    bool control = false;
    size_t x = 0, y = 0; // cells, from the upper left corner
    bool pasted = false; // not pressed: part of a text

    friend bool operator==(const Key&, const Key&) = default;
};

} // namespace auger
