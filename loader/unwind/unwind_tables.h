// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindTables: how to unwind from all code of a file, and what its call frame information was
// worth. Plain data; made by compile_unwind_tables().
#pragma once

#include "loader/runtimes/go/go_file.h"
#include "loader/runtimes/hotspot/hotspot_file.h"
#include "loader/runtimes/perl/perl_file.h"
#include "loader/runtimes/php/php_file.h"
#include "loader/runtimes/python/asyncio_file.h"
#include "loader/runtimes/python/python_file.h"
#include "loader/runtimes/ruby/ruby_file.h"
#include "loader/runtimes/tokio/tokio_file.h"
#include "loader/runtimes/v8/v8_file.h"
#include "loader/unwind/unwind_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

// Why an entry of call frame information was skipped.
enum class FrameSkip {
    truncated,    // it reaches beyond the section, or its fields beyond it
    common_entry, // its common entry is broken, or not there
    address,      // its address is encoded in a way that we cannot follow
    limit,        // there are more entries than any honest file has
    outside,      // it is not about code of this file
    overlap,      // other entries are about the same code
    count_,
};
using FrameSkips = std::array<uint64_t, static_cast<size_t>(FrameSkip::count_)>;

struct UnwindStatistics {
    uint64_t functions = 0;        // entries that are in the tables
    uint64_t code_functions = 0;   // without an entry, but told from their code
    uint64_t go_functions = 0;     // ... but told from Go's table
    uint64_t rows = 0;             // of all tables
    uint64_t unsupported_rows = 0; // that say WIRE_CFA_UNSUPPORTED
    FrameSkips skipped{};
};

struct UnwindTables {
    // One for each executable segment with functions, by address; none when the file has no call
    // frame information.
    std::vector<UnwindTable> tables;
    UnwindStatistics statistics;
    // Of a file that is a runtime; not cached.
    std::optional<PythonFile> python{};
    std::optional<AsyncioFile> asyncio{};
    std::optional<HotspotFile> hotspot{};
    std::optional<V8File> v8{};
    std::optional<PhpFile> php{};
    std::optional<RubyFile> ruby{};
    std::optional<PerlFile> perl{};
    std::optional<GoFile> go{};
    std::optional<TokioFile> tokio{};

    // The rule at an address as linked. Null where nothing is covered.
    const wire_unwind_rule* find(uint64_t address) const;
};

} // namespace auger
