// SPDX-License-Identifier: GPL-3.0-or-later
// What runs of a BPF program cost, as the kernel measures it.
#pragma once

#include "loader/base/fd.h"

#include <cstdint>
#include <string>

namespace auger::bench {

// The kernel measures while it is open.
UniqueFd program_statistics();

struct Runs {
    uint64_t count = 0;
    uint64_t ns = 0;
};
Runs runs_of(int program_fd);
// ns a run in between. Throws when there was none.
double cost_of_run(const Runs& before, const Runs& after);

// The youngest program of the name that this process has loaded.
UniqueFd find_bpf_program(const std::string& name);

} // namespace auger::bench
