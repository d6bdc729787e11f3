// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/scratch_folder.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace auger::bench {

ScratchFolder::ScratchFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "auger-bench-XXXXXX";
    if (!mkdtemp(pattern.data()))
        throw std::runtime_error("make a temporary folder");
    path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace auger::bench
