// SPDX-License-Identifier: GPL-3.0-or-later
// PhpNames: PHP's functions, by the words that a walk has of its frames (bpf/wire/php.h).
#pragma once

#include "bpf/unwind_table.h"
#include "loader/kernel/function_names.h"
#include "loader/runtimes/php/function_reader.h"

namespace auger {

struct PhpFunctions {
    using Layout = PhpLayout;
    using Function = PhpFunction;
    using Words = FrameKey;
    using WordsHash = FrameKeyHash;
    static constexpr const char* label = "php";

    static FrameKey function_words(const FrameKey& words) {
        return address_and_cookie(words, WIRE_FRAME_PHP);
    }
    static std::variant<PhpFunction, FunctionProblem>
    read(const ReadMemory& read, const PhpLayout& layout, const FrameKey& words) {
        return read_php_function(read, layout, words.first, static_cast<uint32_t>(words.second));
    }
    static FunctionName name(const PhpFunction& function, const FrameKey& words);
    static size_t bytes_of(const PhpFunction& function) {
        return function.name.capacity() + function.file.capacity();
    }
};

using PhpNames = FunctionNames<PhpFunctions>;

} // namespace auger
