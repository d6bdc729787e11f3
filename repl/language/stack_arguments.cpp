// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/stack_arguments.h"

#include "repl/language/values.h"

namespace auger {
namespace {

// FRAMES: a number, or "all".
Parsed<size_t> take_depth(Arguments& arguments) {
    if (arguments.at_end())
        return arguments.missing("a number of frames, or all");
    const Word& word = arguments.take();
    if (word.text == "all")
        return size_t{0};
    const auto count = count_of(word);
    if (!count)
        return count.complaint();
    if (*count == 0)
        return Complaint{word.span, "0 frames show nothing", "all of them: --depth all",
                         Error::Kind::usage};
    return static_cast<size_t>(*count);
}

} // namespace

Parsed<bool> take_frame_choice(Arguments& arguments, FrameChoice& frames) {
    if (arguments.at_end() ||
        (arguments.peek().text != "--language" && arguments.peek().text != "--native"))
        return false;
    const Word& word = arguments.take();
    if (frames != FrameChoice::all)
        return Complaint{word.span, "which frames are shown has been said",
                         "one of: --language, --native", Error::Kind::usage};
    frames = word.text == "--language" ? FrameChoice::language : FrameChoice::native;
    return true;
}

Parsed<StackArguments> take_stack_arguments(Arguments& arguments, std::optional<size_t>& rows) {
    StackArguments stack;
    while (!arguments.at_end()) {
        const auto chosen = take_frame_choice(arguments, stack.frames);
        if (!chosen)
            return chosen.complaint();
        if (*chosen)
            continue;
        if (!stack.depth && arguments.take_if("--depth")) {
            const auto depth = take_depth(arguments);
            if (!depth)
                return depth.complaint();
            stack.depth = *depth;
        } else if (!rows && arguments.peek().text == "-n") {
            const auto taken = take_rows(arguments);
            if (!taken)
                return taken.complaint();
            rows = *taken;
        } else {
            break; // who asked complains of what is left
        }
    }
    return stack;
}

} // namespace auger
