// SPDX-License-Identifier: GPL-3.0-or-later
// WalkMaps: what walks in the kernel look up, for those that are made here (loader/walk).
#pragma once

#include "bpf/unwind_table.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/unwind_cells.h"
#include "loader/walk/thread_walk.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace auger {

class WalkMaps {
  public:
    // All of them outlive it. `tables`: by number, all that there may be.
    WalkMaps(const Programs& programs, const UnwindCells& cells, const wire_unwind_table* tables);

    // See walk_source::look_up.
    const void* look_up(walk_map map, uint32_t key);

  private:
    struct Copied {
        int fd = -1;
        std::vector<std::byte> value; // the last one that was asked for
    };

    const UnwindCells& cells_;
    const wire_unwind_table* tables_;
    std::array<Copied, WALK_MAPS> copied_; // of tables and cells nothing
};

} // namespace auger
