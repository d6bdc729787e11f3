// SPDX-License-Identifier: GPL-3.0-or-later
// PhpProcesses: which processes run which PHP: what walks need of it, in the kernel, and what names
// need.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/php_names.h"
#include "loader/runtimes/php/layout.h"

#include <cstdint>

namespace auger {

class PhpProcesses {
  public:
    PhpProcesses(int layouts_fd, PhpNames& names) : layouts_fd_(layouts_fd), names_(names) {}

    // The number under which walks find the layout of a file's PHP. Fails when it is of a version
    // that is not known, or when there are too many.
    Result<uint32_t> enter(const PhpFile& file, const FileOwner& owner);
    const PhpLayout& layout(uint32_t number) const { return *layouts_[number]; }
    // The process runs it since it has executed its program.
    void set(pid_t pid, uint64_t executed_ns, uint32_t number) {
        names_.set_layout(pid, executed_ns, layouts_[number]);
    }
    // It runs none any more.
    void end(pid_t pid) { names_.end(pid); }

  private:
    int layouts_fd_;
    PhpNames& names_;
    PhpLayoutTable layouts_;
};

} // namespace auger
