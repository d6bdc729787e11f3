// SPDX-License-Identifier: GPL-3.0-or-later
// CacheFolder: files of results that took long to work out, below the cache folder of the user that
// auger runs as. It is a convenience only: whatever is wrong with it, results are worked out anew.
#pragma once

#include "loader/base/fd.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace auger {

class CacheFolder {
  public:
    // Below $XDG_CACHE_HOME/auger, or ~/.cache/auger. Under sudo these variables are another user's
    // and are not looked at.
    static std::string base_of_user();
    // BASE/auger/NAME. Folders that are missing are made, for their owner only; those that are
    // links, or another's, make a cache that keeps nothing.
    CacheFolder(const std::string& base, const char* name, uint64_t size_limit);

    bool usable() const { return static_cast<bool>(folder_); }

    // Empty when there is no such file, or none that we wrote. From any thread. `file` is a plain
    // name.
    std::vector<std::byte> load(const std::string& file) const;
    // It is used now.
    void touch(const std::string& file) const;
    // Files that were not used for longest go when the folder has grown beyond its limit.
    void store(const std::string& file, std::span<const std::byte> content) const;

  private:
    void trim() const;

    UniqueFd folder_;
    uint64_t size_limit_;
};

} // namespace auger
