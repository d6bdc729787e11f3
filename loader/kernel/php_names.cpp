// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/php_names.h"

namespace auger {

namespace {

// What PHP's own traces call code that is in no function; eval() gives its code such a file.
const char* name_of_file_code(const PhpFunction& function, uint64_t second) {
    if (function.file.ends_with(" : eval()'d code"))
        return "eval";
    return second & WIRE_PHP_INCLUDED ? "include" : "{main}";
}

} // namespace

FunctionName PhpFunctions::name(const PhpFunction& function, const FrameKey& words) {
    const uint64_t second = words.second;
    FunctionName name;
    name.file = function.file.empty() ? "[php]" : function.file;
    name.frame.function =
        function.name.empty() ? name_of_file_code(function, second) : function.name;
    name.frame.file = function.file;
    name.frame.line = static_cast<uint32_t>(second >> 32) & WIRE_PHP_MOST_LINE;
    name.address =
        hash_of_function(name.file, name.frame.function, function.first_line, name.frame.line);
    return name;
}

} // namespace auger
