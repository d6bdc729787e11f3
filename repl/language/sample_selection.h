// SPDX-License-Identifier: GPL-3.0-or-later
// [CLASS] [by KEY] [under FUNCTION] [--language | --native]: what of the samples a flame or an
// export is of.
#pragma once

#include "repl/language/arguments.h"
#include "views/model/fold.h"

#include <functional>
#include <string_view>

namespace auger {

// Takes all words. `take_option` takes the next ones if they are an option of the command's own;
// false: they are not.
Parsed<SampleSelection> parse_sample_selection(Arguments& arguments,
                                               const std::function<Parsed<bool>()>& take_option);
// The KEYs, separated by blanks.
std::string_view group_words();

} // namespace auger
