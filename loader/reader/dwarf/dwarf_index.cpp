// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/dwarf/dwarf_index.h"

#include "loader/reader/dwarf/dwarf_units.h"

#include <dwarf.h>

#include <algorithm>

namespace auger {
namespace {

constexpr size_t range_limit = 16'000'000;
constexpr size_t tried_units_limit = 64; // that claim one address

} // namespace

Result<std::unique_ptr<DwarfIndex>> DwarfIndex::open(std::shared_ptr<const ElfFile> file,
                                                     const DebugFolders& folders,
                                                     WorkProgress& progress) {
    auto dwarf = DwarfFile::open(std::move(file), folders);
    if (!dwarf)
        return dwarf.error();
    return make(*std::move(dwarf), progress);
}

std::unique_ptr<DwarfIndex> DwarfIndex::make(std::unique_ptr<DwarfFile> dwarf,
                                             WorkProgress& progress) {
    std::unique_ptr<DwarfIndex> index(new DwarfIndex(std::move(dwarf)));
    progress.total = index->dwarf_->info_bytes();
    index->find_units(progress);
    return index;
}

void DwarfIndex::find_units(WorkProgress& progress) {
    for_each_unit(dwarf_->handle(), [&](Dwarf_Die die, uint8_t type) {
        if (ranges_.size() >= range_limit || progress.stopped())
            return false;
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            return true;
        const auto index = static_cast<uint32_t>(units_.size());
        units_.push_back(dwarf_dieoffset(&die));
        progress.done = units_.back();
        Dwarf_Addr base, low, high;
        for (ptrdiff_t next = 0; ranges_.size() < range_limit &&
                                 (next = dwarf_ranges(&die, next, &base, &low, &high)) > 0;)
            if (low != 0 && low < high)
                ranges_.push_back({low, high, index});
        return true;
    });
    std::sort(ranges_.begin(), ranges_.end(),
              [](const UnitRange& a, const UnitRange& b) { return a.low < b.low; });
    highest_end_.reserve(ranges_.size());
    uint64_t highest = 0;
    for (const UnitRange& range : ranges_)
        highest_end_.push_back(highest = std::max(highest, range.high));
}

DwarfUnit* DwarfIndex::unit(uint32_t index, const WorkProgress& progress) {
    auto& built = built_[index];
    Dwarf_Die die;
    if (!built && dwarf_offdie(dwarf_->handle(), units_[index], &die))
        built = std::make_unique<DwarfUnit>(die, progress);
    return built.get();
}

std::vector<SourceFrame> DwarfIndex::frames(uint64_t address, const WorkProgress& progress) {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), address,
                         [](uint64_t a, const UnitRange& range) { return a < range.low; });
    size_t tried = 0;
    for (auto i = static_cast<size_t>(after - ranges_.begin());
         i-- > 0 && highest_end_[i] > address && tried < tried_units_limit;) {
        if (address >= ranges_[i].high)
            continue;
        tried++;
        if (DwarfUnit* candidate = unit(ranges_[i].unit, progress))
            if (auto frames = candidate->frames(address); !frames.empty())
                return frames;
    }
    return {};
}

} // namespace auger
