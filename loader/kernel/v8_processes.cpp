// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/v8_processes.h"

#include <bpf/bpf.h>

namespace auger {

Result<uint32_t> V8Processes::enter(const V8File& file, const FileOwner& owner) {
    const auto layout = v8_layout(file);
    if (!layout)
        return layout.error();
    const auto number = layouts_.number(*layout, owner);
    if (!number || bpf_map_update_elem(layouts_fd_, &*number, &layout->walk, BPF_ANY) < 0)
        return Error{"show JavaScript functions", "",
                     "there are too many kinds of V8, or too many of this user's",
                     "generated code is shown by its addresses instead"};
    return *number;
}

} // namespace auger
