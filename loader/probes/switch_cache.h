// SPDX-License-Identifier: GPL-3.0-or-later
// SwitchCache: what find_switches() found in files, so that each is read once: in memory, and on
// disk by build id. Anybody can write another's build id into a file, so what comes from the disk
// is believed only with a hash, under a seed that its owner alone knows, of all that was read.
#pragma once

#include "loader/probes/module_switches.h"
#include "loader/process/cache_folder.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class SwitchCache {
  public:
    static SwitchCache of_user();
    // Below `base`, a cache folder; empty: in memory only.
    explicit SwitchCache(const std::string& base);

    ModuleSwitches switches_in(const std::shared_ptr<const ElfFile>& file);

    static std::vector<std::byte> encode(const ModuleSwitches& switches, const ElfFile& file);
    // Nothing when they are broken, of another version, or of another file.
    static std::optional<ModuleSwitches> decode(std::span<const std::byte> bytes,
                                                const ElfFile& file);

  private:
    CacheFolder folder_;
    std::map<std::weak_ptr<const ElfFile>, ModuleSwitches, std::owner_less<>> known_;
};

} // namespace auger
