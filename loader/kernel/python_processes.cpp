// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/python_processes.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

namespace auger {

Result<uint32_t> PythonProcesses::enter(const PythonFile& file, const FileOwner& owner) {
    const auto layout = python_layout(file.hex_version, file.debug_offsets);
    if (!layout)
        return layout.error();
    const auto number = layouts_.number(*layout, owner);
    if (!number || bpf_map_update_elem(layouts_fd_, &*number, &layout->frames, BPF_ANY) < 0)
        return Error{"show Python's functions",
                     fmt::format("of a CPython of version {:#x}", file.hex_version),
                     "there are too many kinds of CPython, or too many of this user's",
                     "the interpreter's own functions are shown instead"};
    return *number;
}

} // namespace auger
