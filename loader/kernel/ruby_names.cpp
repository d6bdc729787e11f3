// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/ruby_names.h"

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
    name.address = hash_of_function(function.name, function.first_line, name.frame.line);
    return name;
}

} // namespace auger
