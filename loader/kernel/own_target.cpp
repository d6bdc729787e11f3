// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/own_target.h"

#include "loader/kernel/bpf_calls.h"

#include <bpf/bpf.h>
#include <unistd.h>

namespace auger {

OwnTarget::OwnTarget(Programs& programs)
    : programs_(programs), pid_(static_cast<uint32_t>(getpid())) {
    const int map = programs_.map_fd(MapKind::targets);
    const uint32_t one = 1;
    uint32_t former = 0;
    is_set_ =
        bpf_map_lookup_elem(map, &pid_, &former) != 0 && update_element(map, &pid_, &one) == 0;
    programs_.renew_scope();
    programs_.config().calibrating_pid = pid_;
}

OwnTarget::~OwnTarget() {
    programs_.config().calibrating_pid = 0;
    if (is_set_)
        bpf_map_delete_elem(programs_.map_fd(MapKind::targets), &pid_);
    programs_.renew_scope();
}

} // namespace auger
