// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/names/elf_names.h"

#include "loader/reader/dwarf/dwarf_file.h"
#include "loader/reader/names/demangle.h"
#include "loader/reader/names/mini_debug_info.h"

#include <utility>

namespace auger {

ElfNames::ElfNames(std::shared_ptr<const ElfFile> file) : file_(std::move(file)) {
    if (has_dwarf(*file_))
        dwarf_ = file_;
}

void ElfNames::read(const std::shared_ptr<const ElfFile>& apart, int memory) {
    const bool first = !std::exchange(was_read_, true);
    if (first)
        add_index(file_);
    if (apart && !dwarf_ && has_dwarf(*apart))
        dwarf_ = apart;
    if (file_->has_symbols())
        return;
    if (apart && apart->has_symbols())
        add_index(apart);
    else if (first)
        if (const auto inside = mini_debug_file(*file_, memory))
            add_index(inside);
}

AddressName ElfNames::find(const AddressQuery& query) {
    for (const auto& index : indices_) {
        const FunctionIndex::Function* function = index->containing(query.place);
        if (!function)
            continue;
        auto [at, added] = demangled_.try_emplace(function);
        if (added)
            at->second = demangle(index->best_name(*function));
        if (!at->second.empty())
            return {at->second, true};
    }
    return {unnamed(query), false};
}

std::string ElfNames::unnamed(const AddressQuery& query) {
    if (!bounds_)
        bounds_.emplace(*file_);
    const auto begin = bounds_->begin_of(query.place);
    // By convention, of every C library.
    if (begin && *begin != 0 && *begin == file_->entry())
        return "_start";
    return offset_name(file_->name(), begin.value_or(query.address));
}

void ElfNames::add_index(const std::shared_ptr<const ElfFile>& file) {
    const auto added = indices_.insert(indices_.begin(), std::make_unique<FunctionIndex>(file));
    symbols_ += (*added)->functions().size();
}

} // namespace auger
