// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/go_calls.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/process/proc_info.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <vector>

namespace auger {

Result<void> enter_go_runtime(const Programs& programs, uint64_t cookie, const GoPlaces& places,
                              const std::string& path) {
    if (!places.runtime)
        return Error{"time Go functions", path, "this version of the Go runtime is not known",
                     "calls cannot be told apart without: goroutines change threads"};
    uint32_t spec = cookie & WIRE_COOKIE_SPEC_MASK;
    if (update_element(programs.map_fd(MapKind::go_runtimes), &spec, &*places.runtime) < 0)
        return system_error("time Go functions", path, "", errno);
    const std::vector<wire_go_counts> none(programs.possible_cpus());
    if (update_element(programs.map_fd(MapKind::go_counts), &spec, none.data()) < 0)
        return system_error("time Go functions", path, "", errno);
    return {};
}

void add_goroutine_ends(AttachmentRequest& request, const GoPlaces& places) {
    if (places.goroutine_end)
        request.ends.add(*places.goroutine_end, 0);
}

void enter_go_processes(const Programs& programs, const wire_go_runtime& runtime,
                        const std::set<pid_t>& pids) {
    const int map = programs.map_fd(MapKind::go_processes);
    for (const pid_t pid : pids) {
        const auto key = static_cast<uint32_t>(pid);
        // A full map leaves one out, of which nothing is known then.
        const bool entered = update_element(map, &key, &runtime) == 0;
        if (entered && has_ended(pid))
            bpf_map_delete_elem(map, &key);
    }
}

} // namespace auger
