// SPDX-License-Identifier: GPL-3.0-or-later
// The hosts of a relay, whose stream is one machine's but for where its threads and functions are.
#include "loader/recording/machine_stream.h"

#include <algorithm>

namespace auger {

std::optional<MachineId> CommonStream::relayed_machine(size_t session, const std::string& name) {
    if (const auto known = relayed_.find({session, name}); known != relayed_.end())
        return known->second;
    if (relayed_counts_[session]++ >= most_relayed_hosts)
        return std::nullopt;
    // Behind those of the sessions.
    const MachineId machine{static_cast<uint32_t>(ledgers_.size() + relayed_.size())};
    relayed_.emplace(std::pair(session, name), machine);
    return machine;
}

bool MachineStream::take_origins(const Origins& origins) {
    for (const auto& [id, info] : origins.machines) {
        if (info.name.empty() || info.name.size() > most_host_name)
            return false;
        if (relayed_.size() >= most_relayed_hosts && !relayed_.contains(id))
            return false;
        const auto machine = common_.relayed_machine(session_, info.name);
        if (!machine)
            return false;
        relayed_.insert_or_assign(id, *machine);
        // Its times are moved to the relay's clock, and these to the common one.
        sink_->on_machine(*machine, {info_.name + "/" + info.name, info_.boot_ns});
    }
    const auto is_known = [&](MachineId machine) { return relayed_.contains(machine); };
    if (!std::ranges::all_of(origins.of, is_known))
        return false;
    origins_.assign(origins.of.begin(), origins.of.end());
    return true;
}

// Of one that is no relay, it is its own.
MachineId MachineStream::next_origin() {
    if (origins_.empty())
        return id_;
    const MachineId machine = relayed_.at(origins_.front());
    origins_.pop_front();
    return machine;
}

} // namespace auger
