// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/function_source.h"

namespace auger {

FunctionSource source_of(const SymbolTables& symbols, FunctionId function) {
    FunctionSource source;
    for (size_t i = 0; i < symbols.locations(); i++) {
        for (const FrameEntry& frame : symbols.frames(LocationId{static_cast<uint32_t>(i)})) {
            if (frame.function != function || frame.line == 0)
                continue;
            std::string_view file = symbols.text(frame.file);
            if (file.empty() || (!source.file.empty() && file != source.file))
                continue;
            if (source.file.empty() || frame.line < source.line)
                source = {std::string(file), frame.line};
        }
    }
    return source;
}

} // namespace auger
