// SPDX-License-Identifier: GPL-3.0-or-later
// A frame of a Perl program, read out of its process. Names and statements may die before they are
// read, and their memory becomes others'; the cookie tells.
#pragma once

#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/perl/layout.h"
#include "loader/runtimes/read_memory.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace auger {

// What a walk has of a frame: see bpf/wire/perl.h.
struct PerlFrameWords {
    uint64_t first = 0, second = 0;       // what is executed
    uint64_t place = 0, place_second = 0; // where
    friend bool operator==(const PerlFrameWords&, const PerlFrameWords&) = default;
};
struct PerlFrameWordsHash {
    size_t operator()(const PerlFrameWords& words) const noexcept;
};

struct PerlFrame {
    std::string name;  // as caller() says it: "Package::sub", "Package::__ANON__", "(eval)"
    std::string file;  // empty: it is not known
    uint32_t line = 0; // likewise
    friend bool operator==(const PerlFrame&, const PerlFrame&) = default;
};

std::variant<PerlFrame, FunctionProblem> read_perl_frame(const ReadMemory& read, const PerlOps& ops,
                                                         const PerlFrameWords& words);

// What is no sub has its name without reading: "(main)", "(eval)", "(require)". Where it is may be
// read no more: a text that is compiled is freed when it has been executed.
std::optional<PerlFrame> perl_frame_without_place(const PerlFrameWords& words);

} // namespace auger
