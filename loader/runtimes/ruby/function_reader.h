// SPDX-License-Identifier: GPL-3.0-or-later
// A function of a Ruby program, read out of its process, as a walk has it. Objects die and move,
// and their memory becomes others'; the cookies tell.
#pragma once

#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/read_memory.h"
#include "loader/runtimes/ruby/line_table.h"
#include "loader/runtimes/ruby/objects.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace auger {

// The words of a frame: see bpf/wire/ruby.h.
struct RubyFrameWords {
    uint64_t first = 0, second = 0;
    uint64_t owner = 0, owner_second = 0; // 0: there are none
    friend bool operator==(const RubyFrameWords&, const RubyFrameWords&) = default;
};
struct RubyFrameWordsHash {
    size_t operator()(const RubyFrameWords& words) const noexcept;
};

struct RubyFunction {
    // "Orders#total", "Shop::Till.pay", "block in Orders#total", "<main>": the label that the
    // process's own version gives the code, with the class or module of the method before its name.
    std::string name;
    std::string file;        // empty: a C function's
    uint32_t first_line = 0; // 0: a C function's
    RubyLines lines{};

    // `position`: of the instruction, as a frame's second word has it.
    uint32_t line(uint32_t position) const;
};

std::variant<RubyFunction, FunctionProblem>
read_ruby_function(const ReadMemory& read, const RubyProcess& process, const RubyFrameWords& words);

} // namespace auger
