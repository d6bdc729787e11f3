// SPDX-License-Identifier: GPL-3.0-or-later
// SwitchCache: what the code of files has that leaves its stack
// (loader/reader/matching/switch_record.h), so that each is read once: in memory, and on disk by
// build id.
#pragma once

#include "loader/base/result.h"
#include "loader/probes/code_file.h"
#include "loader/process/cache_folder.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace auger {

class SwitchCache {
  public:
    struct Read {
        std::string objection;         // what speaks against return probes; empty: nothing does
        std::vector<std::byte> record; // to be remembered; empty: the one that was given holds
    };
    // Reads the file; what was remembered of it is given, or nothing.
    using Reader = std::function<Result<Read>(std::span<const std::byte> record)>;

    static SwitchCache of_user() { return SwitchCache(CacheFolder::base_of_user()); }
    // Below `base`, a cache folder; empty: in memory only.
    explicit SwitchCache(const std::string& base);

    // The objection. Of files that others than root and our user can write nothing is kept on disk:
    // who made its reader say what is false would say it of all files of that build id.
    Result<std::string> switches_in(const std::shared_ptr<const CodeFile>& file,
                                    const Reader& read);

  private:
    CacheFolder folder_;
    std::map<std::weak_ptr<const CodeFile>, std::string, std::owner_less<>> known_;
};

} // namespace auger
