// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/python_processes.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <cstring>

namespace auger {

Result<uint32_t> PythonProcesses::enter(const PythonFile& file) {
    const auto layout = python_layout(file.hex_version, file.debug_offsets);
    if (!layout)
        return layout.error();
    for (uint32_t i = 0; i < layouts_.size(); i++)
        if (std::memcmp(&*layouts_[i], &*layout, sizeof *layout) == 0)
            return i;
    const auto number = static_cast<uint32_t>(layouts_.size());
    if (number >= WIRE_PYTHON_LAYOUTS ||
        bpf_map_update_elem(layouts_fd_, &number, &layout->frames, BPF_ANY) < 0)
        return Error{"read Python frames",
                     fmt::format("version {:#x}", file.hex_version),
                     fmt::format("{} other versions are observed already", layouts_.size()),
                     {}};
    layouts_.push_back(std::make_shared<const PythonLayout>(*layout));
    return number;
}

} // namespace auger
