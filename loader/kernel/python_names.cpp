// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/python_names.h"

#include "loader/runtimes/python/line_table.h"

namespace auger {

FunctionName PythonFunctions::name(const PythonCode& code, const FrameKey& words) {
    const auto offset = static_cast<uint32_t>(words.second >> 32);
    FunctionName name;
    name.file = code.file.empty() ? "[python]" : code.file;
    name.frame.function = code.function;
    name.frame.file = code.file;
    name.frame.line = offset == WIRE_PYTHON_NO_OFFSET
                          ? code.first_line
                          : python_line(code.form, code.lines, code.first_line, offset);
    name.address = hash_of_function(name.file, code.function, code.first_line, name.frame.line);
    return name;
}

} // namespace auger
