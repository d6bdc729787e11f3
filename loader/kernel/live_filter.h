// SPDX-License-Identifier: GPL-3.0-or-later
// LiveFilter: writes a FilterSpec into the kernel's maps. A new filter's values are entered under a
// new generation first and put in force by one store, so that no event ever meets half a filter.
#pragma once

#include "loader/kernel/programs.h"
#include "loader/settings/filter_spec.h"

namespace auger {

class LiveFilter {
  public:
    explicit LiveFilter(Programs& programs) : programs_(programs) {}

    // Fails without a change for names that are too long, unknown cgroups and too many values.
    Result<void> set(const FilterSpec& filter);
    // Whether a process's first thread passes.
    bool passes(pid_t pid) const;

  private:
    struct Values {
        std::vector<uint64_t> pids, tids, cgroups;
        std::vector<std::string> comms;
    };
    static Result<Values> resolve(const FilterSpec& filter);
    Result<void> enter(const Values& values, uint32_t generation);
    void remove_stale(const Values& old_values, const Values& new_values);

    Programs& programs_;
    Values in_force_;
    Values stale_; // of the filter before, still in the maps
    uint32_t generation_ = 0;
};

} // namespace auger
