// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/process/proc_info.h"
#include "loader/process/proc_maps.h"

#include <cstdlib>

namespace auger::test {

void fuzz_process_text(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    size_t paths = 0;
    for (const Mapping& mapping : parse_maps(text))
        paths += mapping.path.size();
    const auto stat = parse_stat(text);
    const auto group = cgroup2_path(text);
    const auto mount = cgroup2_mount(text);
    // Nothing is longer than what it was made of.
    if (paths > size || (stat && stat->comm.size() > size) || (group && group->size() > size) ||
        (mount && mount->size() > size))
        std::abort();
}

} // namespace auger::test
