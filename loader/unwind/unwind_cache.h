// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindCache: compiled tables on disk, one file per build id, below the cache folder of the user
// that auger runs as. It is a convenience only: whatever is wrong with it, tables are compiled.
#pragma once

#include "loader/base/fd.h"
#include "loader/unwind/unwind_compiler.h"

#include <optional>
#include <string>

namespace auger {

class UnwindCache {
  public:
    static constexpr uint64_t default_limit = uint64_t{512} << 20; // bytes

    // $XDG_CACHE_HOME/auger/unwind, or ~/.cache/auger/unwind. Under sudo these variables are
    // another user's and are not looked at.
    static UnwindCache of_user();
    // Below `base`, a cache folder. Folders that are missing are made, for their owner only; those
    // that are links, or another's, make a cache that keeps nothing.
    explicit UnwindCache(const std::string& base, uint64_t size_limit = default_limit);

    bool usable() const { return static_cast<bool>(folder_); }

    // Nothing when there are none, or none that can be trusted. From any thread.
    std::optional<UnwindTables> load(const ElfFile& file) const;
    // Files that were not used for longest go when the folder has grown beyond its limit.
    void store(const ElfFile& file, const UnwindTables& tables) const;

  private:
    void trim() const;

    UniqueFd folder_;
    uint64_t size_limit_;
};

// From the cache, else compiled and put there.
Result<UnwindTables> unwind_tables(const ElfFile& file, const UnwindCache& cache);

} // namespace auger
