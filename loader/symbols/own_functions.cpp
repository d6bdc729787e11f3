// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/own_functions.h"

#include "loader/unwind/frame_sections.h"

#include <algorithm>
#include <tuple>

namespace auger {

OwnFunctions::OwnFunctions(const ElfFile& file) {
    const FrameSections frames = FrameSections::read(file);
    for (const FrameSection& section : frames.sections) {
        CallFrameInformation information(section.content, section.kind, section.bases);
        while (const auto function = information.next())
            functions_.push_back({function->begin, function->end});
    }
    for (const ElfFunction& symbol : file.functions())
        functions_.push_back({symbol.address, symbol.address + symbol.size});
    if (file.entry())
        functions_.push_back({file.entry(), file.entry()});
    std::ranges::sort(functions_, {}, [](const Function& function) {
        return std::pair(function.begin, function.end);
    });
}

Result<void> OwnFunctions::confirm(uint64_t address, uint64_t size) const {
    const auto [first, behind] =
        std::ranges::equal_range(functions_, address, {}, &Function::begin);
    if (first == behind)
        return Error{"place probe",
                     {},
                     "is known from a separate debug file only: neither a symbol nor call frame "
                     "information of the file itself has a function there",
                     "time an exported function, or build the program with "
                     "-fasynchronous-unwind-tables"};
    const Function& longest = *std::prev(behind);
    if (longest.end > longest.begin && size > longest.end - longest.begin)
        return Error{"place probe",
                     {},
                     "is longer in the separate debug file than in the file itself, so that is not "
                     "of this file",
                     "remove the debug file"};
    return {};
}

} // namespace auger
