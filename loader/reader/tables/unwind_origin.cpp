// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/unwind_origin.h"

#include "loader/reader/tables/section_hash.h"

namespace auger {
namespace {

// All that tables are made of. The build id alone would not do: anybody may write another's into a
// file.
uint64_t identity_of(const ElfFile& file, const UnwindStatistics& statistics, uint64_t seed) {
    SeededHash hash(seed);
    hash.add(std::as_bytes(std::span(file.build_id())));
    for (const ElfSegment& segment : file.segments()) {
        hash.add(segment.offset, segment.address);
        hash.add(segment.memory_size, segment.executable);
    }
    for (const char* name : {".text", ".got", ".got.plt", ".eh_frame", ".debug_frame"}) {
        const auto section = file.section(name);
        hash.add(section.has_value(), section ? section->address : 0);
        if (section && std::string_view(name).ends_with("_frame"))
            add_content(hash, file, *section);
    }
    if (statistics.code_functions > 0)
        for (const char* name : {".text", ".symtab", ".dynsym"})
            if (const auto section = file.section(name))
                add_content(hash, file, *section);
    return hash.value();
}

} // namespace

std::vector<std::byte> encode_unwind_file(const UnwindTables& tables, const ElfFile& file) {
    const uint64_t seed = SeededHash::random_seed();
    return encode_unwind_file(tables, {seed, identity_of(file, tables.statistics, seed)});
}

bool is_unwind_file_of(Bytes bytes, const ElfFile& file) {
    UnwindStatistics statistics;
    const auto origin = origin_of_unwind_file(bytes, statistics);
    return origin && origin->identity == identity_of(file, statistics, origin->seed);
}

} // namespace auger
