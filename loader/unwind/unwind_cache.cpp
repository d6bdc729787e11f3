// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/unwind_cache.h"

#include "loader/unwind/unwind_file.h"

namespace auger {

UnwindCache UnwindCache::of_user() {
    return UnwindCache(CacheFolder::base_of_user());
}

UnwindCache::UnwindCache(const std::string& base, uint64_t size_limit)
    : folder_(base, "unwind", size_limit) {}

// Files are named by build id, which is hexadecimal (ElfFile), so a plain name.
std::optional<UnwindTables> UnwindCache::load(const ElfFile& file) const {
    auto tables = decode_unwind_file(folder_.load(file.build_id()), file);
    if (tables)
        folder_.touch(file.build_id());
    return tables;
}

void UnwindCache::store(const ElfFile& file, const UnwindTables& tables) const {
    if (folder_.usable() && !file.build_id().empty())
        folder_.store(file.build_id(), encode_unwind_file(tables, file));
}

Result<UnwindTables> unwind_tables(const ElfFile& file, const UnwindCache& cache) {
    if (auto cached = cache.load(file))
        return std::move(*cached);
    auto compiled = compile_unwind_tables(file);
    if (compiled)
        cache.store(file, *compiled);
    return compiled;
}

} // namespace auger
