// SPDX-License-Identifier: GPL-3.0-or-later
// V8Processes: which processes run which V8: what walks need of it, in the kernel, and what names
// need.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/v8_names.h"
#include "loader/runtimes/layout_table.h"
#include "loader/runtimes/v8/v8_file.h"

#include <cstdint>

namespace auger {

class V8Processes {
  public:
    V8Processes(int layouts_fd, V8Names& names) : layouts_fd_(layouts_fd), names_(names) {}

    // The number under which walks find the layout of a file's V8. Fails when it is of a version
    // that is not known, or when there are too many.
    Result<uint32_t> enter(const V8File& file, const FileOwner& owner);
    // The process runs it since it has executed its program.
    void set(pid_t pid, uint64_t executed_ns, uint32_t number) {
        names_.set_layout(pid, executed_ns, layouts_[number]);
    }
    // It runs none any more.
    void end(pid_t pid) { names_.end(pid); }

  private:
    int layouts_fd_;
    V8Names& names_;
    LayoutTable<V8Layout, WIRE_V8_LAYOUTS> layouts_;
};

} // namespace auger
