// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/module_debug.h"

#include "loader/process/safe_open.h"
#include "loader/symbols/dwarf_file.h"
#include "loader/symbols/elf_questions.h"

namespace auger {
namespace {

// Our own folder stays open for as long as this does.
struct Roots {
    UniqueFd own;
    DebugFolders folders;

    explicit Roots(const UniqueFd* target) {
        if (auto root = open_folder("/"))
            own = *std::move(root);
        folders.own_root = own.get();
        folders.target_root = target ? target->get() : -1;
    }
};

} // namespace

ModuleDebug::ModuleDebug(std::shared_ptr<const ElfFile> file, std::string path,
                         std::shared_ptr<const UniqueFd> root)
    : file_(std::move(file)), path_(std::move(path)), root_(std::move(root)) {}

const std::shared_ptr<const ElfFile>& ModuleDebug::debug_file() {
    if (!debug_file_) {
        debug_file_.emplace();
        if (!has_dwarf(*file_)) {
            const Roots roots(root_.get());
            *debug_file_ = open_debug_file(*file_, path_, roots.folders);
        }
    }
    return *debug_file_;
}

Result<std::shared_ptr<const ElfFile>> ModuleDebug::file_with_debug(const char* operation) {
    const auto& separate = debug_file();
    if (separate)
        return separate;
    if (has_dwarf(*file_))
        return file_;
    return Error{
        operation, path_, "it has no debug information, and no separate debug file was found",
        file_->build_id().empty()
            ? "compile it with -g"
            : "compile it with -g, or install the debug file of build id " + file_->build_id()};
}

Result<std::shared_ptr<const LineTable>> ModuleDebug::read_lines() {
    auto file = file_with_debug("read line table of");
    if (!file)
        return file.error();
    const Roots roots(root_.get());
    WorkProgress progress;
    return LineTable::read(*file, roots.folders, progress);
}

Result<std::shared_ptr<DwarfFile>> ModuleDebug::dwarf() {
    if (auto held = dwarf_.lock())
        return held;
    auto file = file_with_debug("read types of");
    if (!file)
        return file.error();
    const Roots roots(root_.get());
    auto opened = DwarfFile::open(*file, roots.folders);
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
