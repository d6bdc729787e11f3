// SPDX-License-Identifier: GPL-3.0-or-later
// What a Programs holds; for its own files alone.
#pragma once

#include "loader/base/fd.h"
#include "loader/kernel/mapped_array.h"
#include "loader/kernel/programs.h"

#include <bpf/bpf.h>
#include <linux/types.h>

#include "auger.skel.h"

#include <map>
#include <string>
#include <string_view>

namespace auger {

// Their names begin so, and end with a number.
inline constexpr std::string_view tracepoint_program_name = "tracepoint_hit_";

struct SkeletonDeleter {
    void operator()(auger_bpf* skeleton) const { auger_bpf::destroy(skeleton); }
};

struct Programs::State {
    ProgramsOptions options;
    std::unique_ptr<auger_bpf, SkeletonDeleter> skeleton; // its maps, and the process tracepoints
    std::map<std::string, UniqueFd> loaded;               // by name
    uint32_t cpus = 0;
    uint32_t cpu_ids = 0;
    uint32_t last_scope = 0;
    MappedArray<wire_call_counters> counters;
    MappedArray<wire_unwind_table> unwind_tables;
    MappedArray<wire_tick_cost> tick_costs;

    Result<int> program(const std::string& name);
};

} // namespace auger
