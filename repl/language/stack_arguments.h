// SPDX-License-Identifier: GPL-3.0-or-later
// [--language | --native] [--depth FRAMES]: how commands that list calls show their stacks.
#pragma once

#include "repl/language/arguments.h"
#include "views/model/frame_choice.h"

#include <optional>
#include <string_view>

namespace auger {

struct StackArguments {
    FrameChoice frames = FrameChoice::all;
    std::optional<size_t> depth{}; // frames; 0: all

    StackOptions in_text() const { return {frames, depth.value_or(StackOptions{}.depth)}; }
    StackOptions in_json() const { return {frames, depth.value_or(0)}; }
};

// Takes `--language` or `--native`; false: neither is next.
Parsed<bool> take_frame_choice(Arguments& arguments, FrameChoice& frames);
// Takes one of these, or `-n ROWS`, as long as there are any, in any order.
Parsed<StackArguments> take_stack_arguments(Arguments& arguments, std::optional<size_t>& rows);

} // namespace auger
