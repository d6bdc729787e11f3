// SPDX-License-Identifier: GPL-3.0-or-later
// RubyNames: Ruby's functions, by the words that a walk has of its frames (bpf/wire/ruby.h).
#pragma once

#include "loader/kernel/function_names.h"
#include "loader/runtimes/ruby/function_reader.h"

#include <cstdint>
#include <span>
#include <vector>

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

// Whether a pair of words that begins so is one of Ruby's.
bool is_ruby_word(uint64_t first);

// A stack's words with Ruby's frames in their places, which come behind the native ones. `loop`:
// rb_vm_exec() in the process.
std::vector<uint64_t> place_ruby_frames(std::span<const uint64_t> words, const LoopCode& loop,
                                        bool leaf_is_return);

} // namespace auger
