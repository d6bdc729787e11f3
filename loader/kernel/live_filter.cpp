// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_filter.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/process/container.h"
#include "loader/process/proc_info.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <array>

namespace auger {

namespace {

std::array<char, WIRE_COMM> comm_key(const std::string& name) {
    std::array<char, WIRE_COMM> key = {};
    name.copy(key.data(), WIRE_COMM - 1);
    return key;
}

Result<void> enter_ids(int fd, const std::vector<uint64_t>& ids, uint32_t generation) {
    for (uint64_t id : ids) {
        if (update_element(fd, &id, &generation) < 0)
            return system_error("filter", std::to_string(id));
    }
    return {};
}

void remove_ids(int fd, const std::vector<uint64_t>& ids, const std::vector<uint64_t>& kept) {
    for (uint64_t id : ids) {
        if (std::find(kept.begin(), kept.end(), id) == kept.end())
            bpf_map_delete_elem(fd, &id);
    }
}

} // namespace

Result<LiveFilter::Values> LiveFilter::resolve(const FilterSpec& filter) {
    Values values;
    values.pids.assign(filter.pids.begin(), filter.pids.end());
    values.tids.assign(filter.tids.begin(), filter.tids.end());
    for (const std::string& comm : filter.comms) {
        if (comm.size() >= WIRE_COMM)
            return Error{"filter comm", comm, "thread names have at most 15 bytes",
                         "give the first 15, as `ps -L` shows them"};
        values.comms.push_back(comm);
    }
    for (const std::string& name : filter.cgroups) {
        auto cgroups = cgroups_by_name(name);
        if (!cgroups)
            return cgroups.error();
        for (const Cgroup& cgroup : *cgroups)
            values.cgroups.push_back(cgroup.id);
    }
    return values;
}

Result<void> LiveFilter::enter(const Values& values, uint32_t generation) {
    if (auto done = enter_ids(programs_.map_fd(MapKind::filter_pids), values.pids, generation);
        !done)
        return done;
    if (auto done = enter_ids(programs_.map_fd(MapKind::filter_tids), values.tids, generation);
        !done)
        return done;
    if (auto done =
            enter_ids(programs_.map_fd(MapKind::filter_cgroups), values.cgroups, generation);
        !done)
        return done;
    for (const std::string& comm : values.comms) {
        auto key = comm_key(comm);
        if (update_element(programs_.map_fd(MapKind::filter_comms), key.data(), &generation) < 0)
            return system_error("filter comm", comm);
    }
    return {};
}

void LiveFilter::remove_stale(const Values& old_values, const Values& new_values) {
    remove_ids(programs_.map_fd(MapKind::filter_pids), old_values.pids, new_values.pids);
    remove_ids(programs_.map_fd(MapKind::filter_tids), old_values.tids, new_values.tids);
    remove_ids(programs_.map_fd(MapKind::filter_cgroups), old_values.cgroups, new_values.cgroups);
    for (const std::string& comm : old_values.comms) {
        if (std::find(new_values.comms.begin(), new_values.comms.end(), comm) ==
            new_values.comms.end())
            bpf_map_delete_elem(programs_.map_fd(MapKind::filter_comms), comm_key(comm).data());
    }
}

Result<void> LiveFilter::set(const FilterSpec& filter) {
    auto values = resolve(filter);
    if (!values)
        return values.error();
    uint32_t generation = generation_ + 1;
    if (auto entered = enter(*values, generation); !entered) {
        Error error = entered.error();
        // Back to what was in force; what was entered in vain goes.
        (void)enter(in_force_, generation_);
        remove_stale(*values, in_force_);
        return error;
    }
    uint32_t filters = (values->pids.empty() ? 0 : WIRE_FILTER_PID) |
                       (values->tids.empty() ? 0 : WIRE_FILTER_TID) |
                       (values->comms.empty() ? 0 : WIRE_FILTER_COMM) |
                       (values->cgroups.empty() ? 0 : WIRE_FILTER_CGROUP);
    programs_.config().filter = uint64_t{generation} << WIRE_FILTER_GENERATION_SHIFT | filters;
    programs_.renew_scope();
    // A program that runs at this moment may still ask for the values of the filter before, so only
    // those of earlier ones go.
    remove_stale(stale_, *values);
    stale_ = std::move(in_force_);
    in_force_ = std::move(*values);
    generation_ = generation;
    return {};
}

bool LiveFilter::passes(pid_t pid) const {
    const auto holds = [](const auto& values, const auto& value) {
        return values.empty() || std::ranges::find(values, value) != values.end();
    };
    if (!holds(in_force_.pids, static_cast<uint64_t>(pid)) ||
        !holds(in_force_.tids, static_cast<uint64_t>(pid)))
        return false;
    if (!in_force_.comms.empty()) {
        const auto comm = comm_of(pid);
        if (!comm || !holds(in_force_.comms, *comm))
            return false;
    }
    if (in_force_.cgroups.empty())
        return true;
    const auto group = cgroup_of(pid);
    return group && holds(in_force_.cgroups, group->id);
}

} // namespace auger
