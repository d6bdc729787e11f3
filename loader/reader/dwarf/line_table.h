// SPDX-License-Identifier: GPL-3.0-or-later
// LineTable: from (file, line) to code, and back. All line programs of one file's DWARF are read
// once, each line's rows are joined into contiguous blocks, and the DWARF is closed again.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/symbols/progress.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace auger {

using SourceFileId = uint32_t; // within one LineTable

// Code of one line without a gap. Empty (low == high) where a statement was left without code of
// its own, as optimising compilers do.
struct LineBlock {
    uint64_t low; // as linked
    uint64_t high;
    // Where the line's statement begins (is_stmt); nothing in what is only the rest of one.
    std::optional<uint64_t> statement;
};

struct SourceLine {
    SourceFileId file;
    uint32_t line;
};

class LineTable {
  public:
    // `file` is what has the DWARF: the module, or its separate debug file. Fails when there is
    // none to be used, with the reason. `alternative`: what dwz has put elsewhere, or null.
    static Result<std::shared_ptr<const LineTable>> read(std::shared_ptr<const ElfFile> file,
                                                         std::shared_ptr<const ElfFile> alternative,
                                                         const WorkProgress& progress);

    // Files whose path ends in these components, as in gdb: `main.cc`, `src/main.cc`, absolute.
    std::vector<SourceFileId> files_named(std::string_view path) const;
    // Absolute where the compiler said so; without `.` and `..`.
    const std::string& path(SourceFileId file) const { return paths_[file]; }
    size_t files() const { return paths_.size(); }

    // Every copy of the line's code (inlined, templates, several sequences), by address.
    std::vector<LineBlock> blocks(SourceLine line) const;
    // All of a file's code.
    std::vector<LineBlock> blocks_of(SourceFileId file) const;
    // The nearest lines before and after that have a statement; 0: there is none.
    std::pair<uint32_t, uint32_t> nearest(SourceLine line) const;
    // The line of the code at an address as linked: that of the innermost inlined function.
    std::optional<SourceLine> line_at(uint64_t address) const;

  private:
    static constexpr uint32_t no_statement = UINT32_MAX;

    struct Block {
        uint64_t low;
        uint64_t high;
        uint32_t statement; // bytes from `low`
        SourceFileId file;
        uint32_t line;
    };

    struct ByFile {
        bool operator()(const Block& a, SourceFileId b) const { return a.file < b; }
        bool operator()(SourceFileId a, const Block& b) const { return a < b.file; }
    };

    LineTable() = default;
    static LineBlock public_form(const Block& block);
    std::span<const Block> of_file(SourceFileId file) const;
    SourceFileId file_id(const char* path);
    void add(Block block);
    void finish();

    std::vector<std::string> paths_;
    std::unordered_map<std::string, SourceFileId> ids_;
    std::vector<Block> blocks_;        // by file, line, address
    std::vector<uint32_t> by_address_; // of the blocks that are not empty

    friend class LineReader;
};

} // namespace auger
