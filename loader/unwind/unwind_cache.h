// SPDX-License-Identifier: GPL-3.0-or-later
// UnwindCache: compiled tables on disk, one file per build id, which is hexadecimal.
#pragma once

#include "loader/process/cache_folder.h"
#include "loader/unwind/byte_cursor.h"

#include <string>
#include <vector>

namespace auger {

class UnwindCache {
  public:
    static constexpr uint64_t default_limit = uint64_t{512} << 20; // bytes

    // See CacheFolder.
    static UnwindCache of_user();
    explicit UnwindCache(const std::string& base, uint64_t size_limit = default_limit);

    bool usable() const { return folder_.usable(); }

    // What was stored under a build id; empty when there is nothing. It may be of another file: the
    // content tells (unwind_file.h). From any thread.
    std::vector<std::byte> load(const std::string& build_id) const;
    void store(const std::string& build_id, Bytes unwind_file) const;

  private:
    CacheFolder folder_;
};

} // namespace auger
