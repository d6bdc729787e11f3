// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/unwind_cache.h"

namespace auger {

UnwindCache UnwindCache::of_user() {
    return UnwindCache(CacheFolder::base_of_user());
}

UnwindCache::UnwindCache(const std::string& base, uint64_t size_limit)
    : folder_(base, "unwind", size_limit) {}

std::vector<std::byte> UnwindCache::load(const std::string& build_id) const {
    if (build_id.empty())
        return {};
    auto bytes = folder_.load(build_id);
    if (!bytes.empty())
        folder_.touch(build_id);
    return bytes;
}

void UnwindCache::store(const std::string& build_id, Bytes unwind_file) const {
    if (folder_.usable() && !build_id.empty())
        folder_.store(build_id, unwind_file);
}

} // namespace auger
