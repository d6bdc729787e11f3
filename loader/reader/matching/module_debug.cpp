// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/module_debug.h"

#include "loader/reader/dwarf/dwarf_file.h"

namespace auger {

Result<std::shared_ptr<const ElfFile>> ModuleDebug::file_with_debug(const char* operation) const {
    if (!separate_.problem.empty())
        return Error{operation, path_, separate_.problem, {}};
    if (separate_.file)
        return separate_.file;
    if (has_dwarf(*file_))
        return file_;
    return Error{
        operation, path_, "it has no debug information, and no separate debug file was found",
        file_->build_id().empty()
            ? "compile it with -g"
            : "compile it with -g, or install the debug file of build id " + file_->build_id()};
}

Result<std::shared_ptr<const LineTable>> ModuleDebug::read_lines() const {
    auto file = file_with_debug("read line table of");
    if (!file)
        return file.error();
    WorkProgress progress;
    return LineTable::read(*std::move(file), separate_.alternative, progress);
}

Result<std::shared_ptr<DwarfFile>> ModuleDebug::dwarf() {
    if (auto held = dwarf_.lock())
        return held;
    auto file = file_with_debug("read types of");
    if (!file)
        return file.error();
    auto opened = DwarfFile::open(*std::move(file), separate_.alternative);
    if (!opened)
        return opened.error();
    std::shared_ptr<DwarfFile> shared = *std::move(opened);
    dwarf_ = shared;
    return shared;
}

const OwnFunctions& ModuleDebug::own_functions() {
    if (!own_functions_)
        own_functions_.emplace(*file_);
    return *own_functions_;
}

const Result<std::shared_ptr<const LineTable>>& ModuleDebug::lines() {
    if (!lines_)
        lines_.emplace(read_lines());
    return *lines_;
}

} // namespace auger
