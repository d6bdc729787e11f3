// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/call_programs.h"

#include <bpf/bpf.h>

namespace auger {

Result<void> CallPrograms::set(SpecId spec, uint16_t slot, std::optional<CallProgram> program) {
    uint32_t key = slot;
    int map = programs_.map_fd(MapKind::call_programs);
    if (!program) {
        bpf_map_delete_elem(map, &key);
        return {};
    }
    if (++last_version_ == 0)
        last_version_ = 1;
    program->wire.version = last_version_;
    if (bpf_map_update_elem(map, &key, &program->wire, BPF_ANY) < 0)
        return system_error("enter what is read of calls", "");
    auto& versions = versions_[spec];
    versions.push_back(std::move(*program));
    if (versions.size() > kept_versions)
        versions.pop_front();
    return {};
}

void CallPrograms::remove(SpecId spec, uint16_t slot) {
    uint32_t key = slot;
    bpf_map_delete_elem(programs_.map_fd(MapKind::call_programs), &key);
    versions_.erase(spec);
}

const CallProgram* CallPrograms::find(SpecId spec, uint32_t version) const {
    auto found = versions_.find(spec);
    if (found == versions_.end())
        return nullptr;
    for (const CallProgram& program : found->second) {
        if (program.wire.version == version)
            return &program;
    }
    return nullptr;
}

const CallProgram* CallPrograms::newest(SpecId spec) const {
    auto found = versions_.find(spec);
    return found == versions_.end() || found->second.empty() ? nullptr : &found->second.back();
}

} // namespace auger
