// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/ruby_names.h"

#include "bpf/unwind_table.h"
#include "loader/runtimes/frame_words.h"
#include "loader/unwind/chain_pieces.h"

namespace auger {

RubyFrameWords RubyFunctions::function_words(const RubyFrameWords& words) {
    RubyFrameWords alone = words;
    alone.second = static_cast<uint32_t>(words.second);
    return alone;
}

FunctionName RubyFunctions::name(const RubyFunction& function, const RubyFrameWords& words) {
    FunctionName name;
    name.file = function.file.empty() ? "[ruby]" : function.file;
    name.frame.function = function.name;
    name.frame.file = function.file;
    name.frame.line = function.line(static_cast<uint32_t>(words.second >> 32));
    name.address = hash_of_function(name.file, function.name, function.first_line, name.frame.line);
    return name;
}

bool is_ruby_word(uint64_t first) {
    const uint64_t kind = first & WIRE_FRAME_KIND;
    return kind == WIRE_FRAME_RUBY || kind == WIRE_FRAME_RUBY_METHOD ||
           kind == WIRE_FRAME_RUBY_OWNER;
}

std::vector<uint64_t> place_ruby_frames(std::span<const uint64_t> words, const LoopCode& loop,
                                        bool leaf_is_return) {
    const size_t begin = find_pair(words, is_ruby_word);
    // Pairs, and what says why the stack is cut.
    size_t end = begin;
    while (end + 1 < words.size() && !(words[end] & WIRE_STACK_CUT))
        end += 2;
    const auto pieces = words.subspan(begin, end - begin), cut = words.subspan(end);
    auto placed = place_pieces({words.first(begin), !leaf_is_return, cut.empty()}, pieces,
                               [&](uint64_t code) { return loop.holds(code); });
    placed.insert(placed.end(), cut.begin(), cut.end());
    return placed;
}

} // namespace auger
