// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
// The definitions of what maps.h declares.
#include "maps.h"

struct open_calls_map open_calls SEC(".maps");
struct specs_map specs SEC(".maps");
struct spans_map spans SEC(".maps");
struct loop_tasks_map loop_tasks SEC(".maps");
struct waiting_tasks_map waiting_tasks SEC(".maps");
struct wait_stats_map wait_stats SEC(".maps");
struct gates_map gates SEC(".maps");
struct events_map events SEC(".maps");
struct losses_map losses SEC(".maps");
struct targets_map targets SEC(".maps");
struct target_comms_map target_comms SEC(".maps");
struct filter_ids_map filter_pids SEC(".maps");
struct filter_ids_map filter_tids SEC(".maps");
struct filter_ids_map filter_cgroups SEC(".maps");
struct filter_comms_map filter_comms SEC(".maps");
struct unwind_processes_map unwind_processes SEC(".maps");
struct thread_contexts_map thread_contexts SEC(".maps");

const volatile __u32 cpu_ids = 1;
const volatile __u32 own_pid = 0;
const volatile bool disables_preemption = false;
const volatile __u32 late_walk_jiffies = WIRE_UNWIND_LATE_JIFFIES;
struct wire_config config = {};
__u64 scheduler_clock_offset = 0;

char LICENSE[] SEC("license") = "Dual BSD/GPL";
