// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindCache: compiled tables on disk, one file per build id.
#pragma once

#include "loader/process/cache_folder.h"
#include "loader/unwind/unwind_compiler.h"

#include <optional>
#include <string>

namespace auger {

class UnwindCache {
  public:
    static constexpr uint64_t default_limit = uint64_t{512} << 20; // bytes

    // See CacheFolder.
    static UnwindCache of_user();
    explicit UnwindCache(const std::string& base, uint64_t size_limit = default_limit);

    bool usable() const { return folder_.usable(); }

    // Nothing when there are none, or none that can be trusted. From any thread.
    std::optional<UnwindTables> load(const ElfFile& file) const;
    void store(const ElfFile& file, const UnwindTables& tables) const;

  private:
    CacheFolder folder_;
};

// From the cache, else compiled and put there.
Result<UnwindTables> unwind_tables(const ElfFile& file, const UnwindCache& cache);

} // namespace auger
