// SPDX-License-Identifier: GPL-3.0-or-later
// DwarfIndex: source lines and inlined functions of one file's DWARF (versions 2 to 5, compressed
// or not, with a dwz file when there is one). Opening finds which unit holds which addresses; a
// unit's own table is built when its first address is asked for.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/dwarf/dwarf_file.h"
#include "loader/reader/dwarf/dwarf_unit.h"
#include "loader/symbols/progress.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace auger {

class DwarfIndex {
  public:
    // Fails when there is no usable DWARF, with the reason. Stops early, with what it has, when
    // `progress` says so. Used by one thread.
    static Result<std::unique_ptr<DwarfIndex>>
    open(std::shared_ptr<const ElfFile> file, const DebugFolders& folders, WorkProgress& progress);
    static std::unique_ptr<DwarfIndex> make(std::unique_ptr<DwarfFile> dwarf,
                                            WorkProgress& progress);
    DwarfIndex(const DwarfIndex&) = delete;
    DwarfIndex& operator=(const DwarfIndex&) = delete;

    // Innermost first; empty when there is nothing about the address (as linked).
    std::vector<SourceFrame> frames(uint64_t address, const WorkProgress& progress);
    size_t section_bytes() const { return dwarf_->section_bytes(); } // held in memory by libdw
    size_t units() const { return units_.size(); }

  private:
    struct UnitRange {
        uint64_t low;
        uint64_t high;
        uint32_t unit;
    };

    explicit DwarfIndex(std::unique_ptr<DwarfFile> dwarf) : dwarf_(std::move(dwarf)) {}
    void find_units(WorkProgress& progress);
    DwarfUnit* unit(uint32_t index, const WorkProgress& progress);

    std::unique_ptr<DwarfFile> dwarf_;  // outlives the units
    std::vector<Dwarf_Off> units_;      // of their DIEs
    std::vector<UnitRange> ranges_;     // by low address
    std::vector<uint64_t> highest_end_; // of ranges_[0..i]: where a search may stop
    std::map<uint32_t, std::unique_ptr<DwarfUnit>> built_;
};

} // namespace auger
