// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/perl_names.h"

namespace auger {

FunctionName PerlFunctions::name(const PerlFrame& frame, const PerlFrameWords&) {
    FunctionName name;
    name.file = frame.file.empty() ? "[perl]" : frame.file;
    name.address = hash_of_function(name.file, frame.name, 0, frame.line);
    name.frame.function = frame.name;
    name.frame.file = frame.file;
    name.frame.line = frame.line;
    return name;
}

} // namespace auger
