// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/dwarf/line_table.h"

#include "loader/reader/dwarf/dwarf_file.h"
#include "loader/reader/dwarf/dwarf_units.h"

#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

namespace auger {
namespace {

// Honest files stay below these; they bound what a lying one can cost.
constexpr size_t block_limit = 20'000'000;
constexpr size_t file_limit = 1'000'000;
constexpr size_t path_limit = 4096; // bytes

std::string normal(std::string_view path) {
    return std::filesystem::path(path).lexically_normal().string();
}

} // namespace

// Reads the units of one file into a table.
class LineReader {
  public:
    LineReader(LineTable& table, const DwarfFile& dwarf) : table_(table), dwarf_(dwarf) {}

    // False when it was told to stop, or there is more than can be held.
    bool read(const WorkProgress& progress) {
        bool stopped = false;
        for_each_unit(dwarf_.handle(), [&](Dwarf_Die unit, uint8_t type) {
            stopped = progress.stopped();
            if (stopped || full())
                return false;
            if (type == DW_UT_compile || type == DW_UT_skeleton)
                read_unit(unit);
            return true;
        });
        return !stopped && !full();
    }

  private:
    bool full() const {
        return table_.blocks_.size() >= block_limit || table_.paths_.size() >= file_limit;
    }

    // What the linker threw away is left at address 0, outside all code.
    bool is_code(uint64_t address) const {
        return address != 0 &&
               std::any_of(dwarf_.file().segments().begin(), dwarf_.file().segments().end(),
                           [&](const ElfSegment& segment) {
                               return segment.executable && address >= segment.address &&
                                      address - segment.address < segment.memory_size;
                           });
    }

    void read_unit(Dwarf_Die& unit) {
        // Several units may share one line program.
        Dwarf_Attribute attribute;
        Dwarf_Word program;
        if (!dwarf_attr(&unit, DW_AT_stmt_list, &attribute) ||
            dwarf_formudata(&attribute, &program) != 0 || !seen_.insert(program).second)
            return;
        Dwarf_Lines* lines;
        size_t count;
        if (dwarf_getsrclines(&unit, &lines, &count) != 0)
            return;
        // libdw sorts the rows of all sequences by address.
        ids_.clear();
        open_ = false;
        for (size_t i = 0; i < count && !full(); ++i)
            read_row(dwarf_onesrcline(lines, i));
        open_ = false;
    }

    void read_row(Dwarf_Line* row) {
        Dwarf_Addr address;
        bool end = false, statement = false;
        int line = 0;
        if (!row || dwarf_lineaddr(row, &address) != 0 || dwarf_lineendsequence(row, &end) != 0)
            return;
        const char* path = nullptr;
        if (!end && is_code(address) && dwarf_lineno(row, &line) == 0 && line > 0 &&
            dwarf_linebeginstatement(row, &statement) == 0)
            path = dwarf_linesrc(row, nullptr, nullptr);
        const SourceFileId file = path ? id_of(path) : 0;
        if (open_ && path && file == block_.file && static_cast<uint32_t>(line) == block_.line) {
            if (statement && block_.statement == LineTable::no_statement)
                set_statement(address);
            return;
        }
        if (open_) {
            block_.high = address;
            table_.add(block_);
        }
        open_ = path != nullptr;
        if (!open_)
            return;
        block_ = {address, address, LineTable::no_statement, file, static_cast<uint32_t>(line)};
        if (statement)
            set_statement(address);
    }

    void set_statement(uint64_t address) {
        if (address - block_.low < LineTable::no_statement)
            block_.statement = static_cast<uint32_t>(address - block_.low);
    }

    // libdw hands out the same pointer for the same file of a unit.
    SourceFileId id_of(const char* path) {
        auto [at, added] = ids_.try_emplace(path, 0);
        if (added)
            at->second = table_.file_id(path);
        return at->second;
    }

    LineTable& table_;
    const DwarfFile& dwarf_;
    std::set<Dwarf_Word> seen_; // line programs
    std::unordered_map<const char*, SourceFileId> ids_;
    bool open_ = false;
    LineTable::Block block_{};
};

SourceFileId LineTable::file_id(const char* path) {
    const std::string_view text(path);
    auto [at, added] = ids_.try_emplace(normal(text.substr(0, path_limit)),
                                        static_cast<SourceFileId>(paths_.size()));
    if (added)
        paths_.push_back(at->first);
    return at->second;
}

void LineTable::add(Block block) {
    // The rest of a statement that has no code is nothing.
    if (block.low < block.high || block.statement != no_statement)
        blocks_.push_back(block);
}

void LineTable::finish() {
    ids_.clear();
    const auto order = [](const Block& block) {
        return std::tuple(block.file, block.line, block.low, block.high);
    };
    std::sort(blocks_.begin(), blocks_.end(),
              [&](const Block& a, const Block& b) { return order(a) < order(b); });
    // What touches is one block: other lines' statements without code had come between.
    size_t kept = 0;
    for (const Block& block : blocks_) {
        Block* last = kept ? &blocks_[kept - 1] : nullptr;
        if (!last || last->file != block.file || last->line != block.line ||
            last->high < block.low) {
            blocks_[kept++] = block;
            continue;
        }
        last->high = std::max(last->high, block.high);
        if (last->statement == no_statement && block.statement != no_statement &&
            block.low - last->low < no_statement - block.statement)
            last->statement = static_cast<uint32_t>(block.low - last->low) + block.statement;
    }
    blocks_.resize(kept);
    blocks_.shrink_to_fit();
    for (uint32_t i = 0; i < blocks_.size(); ++i)
        if (blocks_[i].low < blocks_[i].high)
            by_address_.push_back(i);
    std::sort(by_address_.begin(), by_address_.end(),
              [&](uint32_t a, uint32_t b) { return blocks_[a].low < blocks_[b].low; });
}

Result<std::shared_ptr<const LineTable>> LineTable::read(std::shared_ptr<const ElfFile> file,
                                                         std::shared_ptr<const ElfFile> alternative,
                                                         const WorkProgress& progress) {
    auto dwarf = DwarfFile::open(std::move(file), std::move(alternative));
    if (!dwarf)
        return dwarf.error();
    std::shared_ptr<LineTable> table(new LineTable);
    if (!LineReader(*table, **dwarf).read(progress))
        return Error{"read line table of",
                     (*dwarf)->file().name(),
                     progress.stopped() ? "stopped" : "more lines than can be held",
                     {}};
    table->finish();
    if (table->blocks_.empty())
        return Error{"read line table of", (*dwarf)->file().name(), "it has no lines", {}};
    return std::shared_ptr<const LineTable>(std::move(table));
}

std::vector<SourceFileId> LineTable::files_named(std::string_view path) const {
    const std::string wanted = normal(path);
    std::vector<SourceFileId> found;
    for (SourceFileId i = 0; i < paths_.size(); ++i) {
        std::string_view have = paths_[i];
        if (!have.ends_with(wanted))
            continue;
        have.remove_suffix(wanted.size());
        if (have.empty() || (have.back() == '/' && wanted.front() != '/'))
            found.push_back(i);
    }
    return found;
}

LineBlock LineTable::public_form(const Block& block) {
    LineBlock shown{block.low, block.high, {}};
    if (block.statement != no_statement)
        shown.statement = block.low + block.statement;
    return shown;
}

std::vector<LineBlock> LineTable::blocks(SourceLine line) const {
    const auto before = [](const Block& block, const SourceLine& wanted) {
        return std::tie(block.file, block.line) < std::tie(wanted.file, wanted.line);
    };
    std::vector<LineBlock> found;
    for (auto at = std::lower_bound(blocks_.begin(), blocks_.end(), line, before);
         at != blocks_.end() && at->file == line.file && at->line == line.line; ++at)
        found.push_back(public_form(*at));
    return found;
}

std::span<const LineTable::Block> LineTable::of_file(SourceFileId file) const {
    const auto [first, last] = std::equal_range(blocks_.begin(), blocks_.end(), file, ByFile());
    return {first, last};
}

std::vector<LineBlock> LineTable::blocks_of(SourceFileId file) const {
    std::vector<LineBlock> found;
    for (const Block& block : of_file(file))
        found.push_back(public_form(block));
    return found;
}

std::pair<uint32_t, uint32_t> LineTable::nearest(SourceLine line) const {
    std::pair<uint32_t, uint32_t> near{0, 0};
    for (const Block& block : of_file(line.file)) {
        if (block.statement == no_statement)
            continue;
        if (block.line < line.line) {
            near.first = block.line;
        } else if (block.line > line.line) {
            near.second = block.line;
            break;
        }
    }
    return near;
}

std::optional<SourceLine> LineTable::line_at(uint64_t address) const {
    auto after =
        std::upper_bound(by_address_.begin(), by_address_.end(), address,
                         [&](uint64_t a, uint32_t block) { return a < blocks_[block].low; });
    if (after == by_address_.begin())
        return std::nullopt;
    const Block& block = blocks_[*std::prev(after)];
    if (address >= block.high)
        return std::nullopt;
    return SourceLine{block.file, block.line};
}

} // namespace auger
