// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/dwarf/dwarf_unit.h"

#include "loader/reader/dwarf/dwarf_walk.h"

#include <dwarf.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

constexpr size_t unit_range_limit = 8'000'000;
constexpr size_t chain_limit = 256;

uint32_t small_number(Dwarf_Die& die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (!dwarf_attr(&die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
        value > UINT32_MAX)
        return 0;
    return static_cast<uint32_t>(value);
}

// The attribute may stand with the abstract function or the declaration that the DIE refers to.
const char* text_of(Dwarf_Die& die, unsigned name) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(&die, name, &attribute));
}

} // namespace

DwarfUnit::DwarfUnit(Dwarf_Die unit, const WorkProgress& progress)
    : dwarf_(dwarf_cu_getdwarf(unit.cu)), unit_(unit) {
    collect(progress);
    flatten();
    // Parsed here, in the background, rather than at the first question.
    Dwarf_Lines* lines;
    size_t count;
    if (!progress.stopped())
        dwarf_getsrclines(&unit_, &lines, &count);
}

uint32_t DwarfUnit::add_function(Dwarf_Die& die, uint32_t parent, bool inlined) {
    const auto function = static_cast<uint32_t>(functions_.size());
    bool any = false;
    Dwarf_Addr base, low, high;
    for (ptrdiff_t next = 0; ranges_.size() < unit_range_limit &&
                             (next = dwarf_ranges(&die, next, &base, &low, &high)) > 0;) {
        // Functions that the linker threw away are left at address 0 or at the very end.
        if (low == 0 || high <= low)
            continue;
        ranges_.push_back({low, high, function});
        any = true;
    }
    if (!any)
        return none;
    Function added{dwarf_dieoffset(&die), none, 0, 0, inlined};
    if (inlined) {
        added.parent = parent;
        added.call_file = small_number(die, DW_AT_call_file);
        added.call_line = small_number(die, DW_AT_call_line);
    }
    functions_.push_back(added);
    return function;
}

void DwarfUnit::collect(const WorkProgress& progress) {
    struct Level {
        Dwarf_Die die;
        uint32_t function; // the innermost one around it
    };
    std::vector<Level> path;
    Level first{{}, none};
    if (dwarf_child(&unit_, &first.die) != 0)
        return;
    path.push_back(first);
    for (uint64_t seen = 0; !path.empty() && seen < die_limit; seen++) {
        if (seen % 4096 == 0 && progress.stopped())
            return;
        Level level = path.back();
        const int tag = dwarf_tag(&level.die);
        uint32_t inner = level.function;
        bool descend = may_hold_functions(tag) && path.size() < die_depth_limit;
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
            inner = add_function(level.die, level.function, tag == DW_TAG_inlined_subroutine);
            descend = descend && inner != none; // abstract functions and declarations hold no code
        }
        Level next{{}, level.function};
        if (dwarf_siblingof(&level.die, &next.die) == 0)
            path.back() = next;
        else
            path.pop_back();
        Level child{{}, inner};
        if (descend && dwarf_child(&level.die, &child.die) == 0)
            path.push_back(child);
    }
}

// Sweeps over the ranges from low to high addresses with the open ones on a stack; an inner range
// that leads beyond its outer one is cut there.
void DwarfUnit::flatten() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
        if (a.low != b.low)
            return a.low < b.low;
        return a.high != b.high ? a.high > b.high : a.function < b.function;
    });
    std::vector<Range> open;
    const auto mark = [this](uint64_t low, uint32_t function) {
        if (!segments_.empty() && segments_.back().low == low)
            segments_.back().function = function;
        else if (segments_.empty() || segments_.back().function != function)
            segments_.push_back({low, function});
    };
    const auto close_up_to = [&](uint64_t address) {
        while (!open.empty() && open.back().high <= address) {
            const uint64_t end = open.back().high;
            open.pop_back();
            mark(end, open.empty() ? none : open.back().function);
        }
    };
    for (Range range : ranges_) {
        close_up_to(range.low);
        if (!open.empty())
            range.high = std::min(range.high, open.back().high);
        open.push_back(range);
        mark(range.low, range.function);
    }
    close_up_to(UINT64_MAX);
    segments_.shrink_to_fit();
    functions_.shrink_to_fit();
    std::vector<Range>().swap(ranges_);
}

const std::string& DwarfUnit::name_of(uint32_t function) {
    const auto [at, added] = names_.try_emplace(function);
    Dwarf_Die die;
    if (added && dwarf_offdie(dwarf_, functions_[function].die, &die)) {
        const char* text = text_of(die, DW_AT_linkage_name);
        if (!text)
            text = text_of(die, DW_AT_MIPS_linkage_name);
        if (!text)
            text = text_of(die, DW_AT_name);
        if (text)
            at->second = text;
    }
    return at->second;
}

std::string DwarfUnit::file_of(uint32_t index) const {
    Dwarf_Files* files;
    size_t count;
    Dwarf_Die unit = unit_;
    if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count)
        return {};
    const char* path = dwarf_filesrc(files, index, nullptr, nullptr);
    return path ? path : "";
}

std::vector<SourceFrame> DwarfUnit::frames(uint64_t address) {
    std::string file;
    int line = 0;
    if (Dwarf_Line* at = dwarf_getsrc_die(&unit_, address)) {
        const char* path = dwarf_linesrc(at, nullptr, nullptr);
        file = path ? path : "";
        if (dwarf_lineno(at, &line) != 0 || line < 0)
            line = 0;
    }
    auto after = std::upper_bound(segments_.begin(), segments_.end(), address,
                                  [](uint64_t a, const Segment& s) { return a < s.low; });
    uint32_t function = after == segments_.begin() ? none : std::prev(after)->function;
    std::vector<SourceFrame> chain;
    if (function == none && (line || !file.empty()))
        chain.push_back({{}, std::move(file), static_cast<uint32_t>(line), false});
    while (function != none && chain.size() < chain_limit) {
        const Function& here = functions_[function];
        chain.push_back({name_of(function), std::move(file), static_cast<uint32_t>(line),
                         here.inlined && here.parent != none});
        file = here.call_file ? file_of(here.call_file) : std::string();
        line = static_cast<int>(here.call_line);
        function = here.parent;
    }
    return chain;
}

size_t DwarfUnit::bytes() const {
    return segments_.capacity() * sizeof(Segment) + functions_.capacity() * sizeof(Function);
}

} // namespace auger
