// SPDX-License-Identifier: GPL-3.0-or-later
// RubyNames: Ruby's functions, by the words that a walk has of its frames (bpf/wire/ruby.h).
#pragma once

#include "loader/kernel/function_names.h"
#include "loader/runtimes/ruby/function_reader.h"

namespace auger {

struct RubyFunctions {
    using Layout = RubyProcess;
    using Function = RubyFunction;
    using Words = RubyFrameWords;
    using WordsHash = RubyFrameWordsHash;
    static constexpr const char* label = "ruby";

    static RubyFrameWords function_words(const RubyFrameWords& words);
    static std::variant<RubyFunction, FunctionProblem>
    read(const ReadMemory& read, const RubyProcess& process, const RubyFrameWords& words) {
        return read_ruby_function(read, process, words);
    }
    static FunctionName name(const RubyFunction& function, const RubyFrameWords& words);
    static size_t bytes_of(const RubyFunction& function) {
        return function.name.capacity() + function.file.capacity() +
               function.lines.capacity() * sizeof(RubyLine);
    }
};

using RubyNames = FunctionNames<RubyFunctions>;

} // namespace auger
