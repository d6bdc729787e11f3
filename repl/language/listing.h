// SPDX-License-Identifier: GPL-3.0-or-later
// What commands that list rows have in common: [PROBE] [CLASS] [-n ROWS].
#pragma once

#include "repl/language/probe_arguments.h"

#include <optional>
#include <string_view>

namespace auger {

struct Listing {
    std::optional<ProbeRef> probe; // nothing: all
    ClassFilter filter{};
    std::optional<size_t> limit{}; // rows
};

// A class; complains when there is none.
Parsed<ClassFilter> parse_class(Arguments& arguments);
// [CLASS] [-n ROWS]
Parsed<Listing> parse_listing(Arguments& arguments);
// [PROBE] [CLASS] [-n ROWS]; a probe that is called like a class is quoted.
Parsed<Listing> parse_call_listing(Arguments& arguments);

inline constexpr std::string_view listing_words = "slow fast open outside taken not-taken all -n";

} // namespace auger
