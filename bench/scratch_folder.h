// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace auger::bench {

// A folder that goes with the object.
class ScratchFolder {
  public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

} // namespace auger::bench
