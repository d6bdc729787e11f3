// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/walk_maps.h"

#include <bpf/bpf.h>

#include <utility>

namespace auger {

WalkMaps::WalkMaps(const Programs& programs, const UnwindCells& cells,
                   const wire_unwind_table* tables)
    : cells_(cells), tables_(tables) {
    const auto copy = [&](walk_map map, MapKind kind, size_t size) {
        copied_[map] = {programs.map_fd(kind), std::vector<std::byte>(size)};
    };
    copy(WALK_PROCESSES, MapKind::unwind_processes, sizeof(wire_unwind_process));
    copy(WALK_PYTHON_LAYOUTS, MapKind::python_layouts, sizeof(wire_python_layout));
    copy(WALK_HOTSPOT_PROCESSES, MapKind::hotspot_processes, sizeof(wire_hotspot));
    copy(WALK_V8_LAYOUTS, MapKind::v8_layouts, sizeof(wire_v8));
    copy(WALK_PHP_LAYOUTS, MapKind::php_layouts, sizeof(wire_php_layout));
    copy(WALK_RUBY_LAYOUTS, MapKind::ruby_layouts, sizeof(wire_ruby_layout));
    copy(WALK_PERL_LAYOUTS, MapKind::perl_layouts, sizeof(wire_perl_layout));
}

const void* WalkMaps::look_up(walk_map map, uint32_t key) {
    if (map == WALK_TABLES)
        return key < WIRE_UNWIND_TABLES ? tables_ + key : nullptr;
    if (map == WALK_SHARDS)
        return cells_.shard(key);
    Copied& copied = copied_[map];
    if (bpf_map_lookup_elem(copied.fd, &key, copied.value.data()) != 0)
        return nullptr;
    return copied.value.data();
}

} // namespace auger
