// SPDX-License-Identifier: GPL-3.0-or-later
// What commands that list rows have in common: [PROBE] [CLASS] [-n ROWS].
#pragma once

#include "repl/language/probe_arguments.h"
#include "views/model/frame_choice.h"

#include <optional>
#include <string_view>

namespace auger {

struct Listing {
    std::optional<ProbeRef> probe; // nothing: all
    ClassFilter filter{};
    std::optional<size_t> limit{}; // rows
    FrameChoice frames = FrameChoice::all;
};

// A class; complains when there is none.
Parsed<ClassFilter> parse_class(Arguments& arguments);
// [CLASS] [-n ROWS]
Parsed<Listing> parse_listing(Arguments& arguments);
// [CLASS] [-n ROWS] [--language | --native], the latter two in any order
Parsed<Listing> parse_function_listing(Arguments& arguments);
// [PROBE] [CLASS] [-n ROWS]; a probe that is called like a class is quoted.
Parsed<Listing> parse_call_listing(Arguments& arguments);

inline constexpr std::string_view listing_words = "slow fast open outside taken not-taken all -n";
inline constexpr std::string_view function_listing_words =
    "slow fast open outside taken not-taken all -n --language --native";

} // namespace auger
