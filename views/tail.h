// SPDX-License-Identifier: GPL-3.0-or-later
// What stands beside the figures of functions that end by a jump to others: whether these are in
// their times.
#pragma once

#include "views/model/model.h"

#include <set>
#include <string>
#include <string_view>

namespace auger {

// Whether times hold what the functions that they are of jump to at their ends.
struct Tail {
    enum class Timed { always, by_callers, never } timed = Timed::always;
    std::set<std::string> functions; // raw: what they jump to, where it is known

    // The times of another function are among them.
    void add(const SpecInfo&);
};
Tail tail_of(const SpecInfo&);
Tail tail_of(const Model&, const ProbeInfo&);
Tail tail_of(const Model&, SpecId); // that a record names, which may be none
// That in some words, and in a sentence that says what to do; empty: they do.
std::string tail_text(const Tail&);
std::string tail_advice(const Tail&);
// `name`, safe to print, with these words behind it.
std::string with_tail(std::string_view name, const std::string& tail_text);
// ... in `width` columns, of which the words get theirs first.
std::string fit_with_tail(std::string_view name, const std::string& tail_text, size_t width,
                          std::string_view ellipsis);

} // namespace auger
