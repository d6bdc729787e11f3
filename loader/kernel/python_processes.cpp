// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/python_processes.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

namespace auger {

Result<uint32_t> PythonProcesses::enter(const PythonFile& file, const FileOwner& owner) {
    const auto layout = python_layout(file);
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

void PythonProcesses::set_tasks(pid_t pid, uint64_t executed_ns, uint32_t number, uint64_t runtime,
                                const std::optional<AsyncioFile>& asyncio) {
    const PythonLayout& layout = *layouts_[number];
    if (!layout.awaits.known || (!layout.awaits.has_asyncio() && !asyncio)) {
        tasks_.end(pid);
        return;
    }
    tasks_.set(
        pid, executed_ns,
        {layout, layout.awaits.has_asyncio() ? layout.awaits.asyncio : asyncio->offsets, runtime});
}

} // namespace auger
