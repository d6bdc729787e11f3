// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/switch_cache.h"

namespace auger {
namespace {

constexpr uint64_t size_limit = uint64_t{1} << 20; // of all files; one has 4 KB on disk

} // namespace

SwitchCache::SwitchCache(const std::string& base) : folder_(base, "switches", size_limit) {}

Result<std::string> SwitchCache::switches_in(const std::shared_ptr<const CodeFile>& file,
                                             const Reader& read) {
    std::erase_if(known_, [](const auto& entry) { return entry.first.expired(); });
    if (const auto found = known_.find(file); found != known_.end())
        return found->second;
    const std::string& name = file->build_id(); // hexadecimal, so a plain name
    const bool keep =
        folder_.usable() && !name.empty() && file->owner().kind == FileOwner::Kind::trusted;
    const auto answer = read(keep ? folder_.load(name) : std::vector<std::byte>());
    if (!answer)
        return answer.error();
    if (keep && answer->record.empty())
        folder_.touch(name);
    else if (keep)
        folder_.store(name, answer->record);
    known_.emplace(file, answer->objection);
    return answer->objection;
}

} // namespace auger
