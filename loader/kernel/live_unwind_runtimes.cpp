// SPDX-License-Identifier: GPL-3.0-or-later
// Which runtimes processes have, by the files that they map: the part of LiveUnwind that knows
// them.
#include "loader/kernel/live_unwind.h"

#include <algorithm>
#include <optional>

namespace auger {

std::optional<uint64_t> LiveUnwind::bias_of(const Module& module, const ModuleMapping& mapping) {
    for (const Segment& one : module.segments) {
        const ElfSegment& segment = one.segment;
        if (mapping.offset + (mapping.end - mapping.start) <= segment.offset ||
            mapping.offset >= segment.offset + segment.file_size)
            continue;
        const uint64_t linked = segment.address + mapping.offset - segment.offset;
        return mapping.start - linked;
    }
    return std::nullopt;
}

void LiveUnwind::find_python(pid_t pid, const ModuleMapping& mapping, wire_unwind_process& entry) {
    const auto known = known_.find(mapping.module.value);
    if (known == known_.end() || !known->second.python || entry.python)
        return;
    const auto bias = bias_of(known->second, mapping);
    if (!bias)
        return;
    const auto& [runtime, layout] = *known->second.python;
    entry.python = runtime + *bias;
    entry.python_layout = layout;
    python_.set(pid, mappings_.image_began(pid), layout);
}

void LiveUnwind::find_asyncio(pid_t pid, uint64_t now_ns, const wire_unwind_process& entry) {
    std::optional<AsyncioFile> asyncio;
    for (const ModuleMapping& mapping : mappings_.mappings(pid, now_ns)) {
        const auto known = known_.find(mapping.module.value);
        if (known != known_.end() && known->second.asyncio)
            asyncio = known->second.asyncio;
    }
    python_.set_tasks(pid, mappings_.image_began(pid), entry.python_layout, entry.python, asyncio);
}

void LiveUnwind::find_php(pid_t pid, const ModuleMapping& mapping, wire_unwind_process& entry) {
    const auto known = known_.find(mapping.module.value);
    if (known == known_.end() || !known->second.php || entry.php)
        return;
    const auto bias = bias_of(known->second, mapping);
    if (!bias)
        return;
    const auto& [globals, layout] = *known->second.php;
    entry.php = globals + *bias;
    entry.php_layout = layout;
    php_.set(pid, mappings_.image_began(pid), layout);
}

LiveUnwind::PhpLoop LiveUnwind::php_loop(pid_t pid) const {
    const auto process = processes_.find(pid);
    if (process == processes_.end() || !process->second.php.address)
        return {};
    const uint64_t globals = process->second.php.address;
    const PhpLayout& layout = php_.layout(process->second.php_layout);
    return {globals + layout.loop, layout.loop_size, globals + layout.cold, layout.cold_size};
}

uint32_t LiveUnwind::find_hotspot(pid_t pid, uint64_t now_ns) {
    for (const ModuleMapping& mapping : mappings_.mappings(pid, now_ns)) {
        const auto known = known_.find(mapping.module.value);
        if (known == known_.end() || !known->second.hotspot)
            continue;
        Module& module = known->second;
        const auto bias = bias_of(module, mapping);
        if (!bias)
            continue;
        const auto number =
            hotspot_.set(pid, mappings_.image_began(pid),
                         {module.hotspot->structs + *bias, module.hotspot->types + *bias}, now_ns);
        if (!number)
            module.note = number.error().message();
        return number ? *number : 0;
    }
    hotspot_.end(pid, now_ns);
    return 0;
}

std::optional<uint32_t> LiveUnwind::find_v8(pid_t pid, uint64_t time_ns) const {
    for (const ModuleMapping& mapping : mappings_.mappings(pid, time_ns)) {
        const auto known = known_.find(mapping.module.value);
        if (known != known_.end() && known->second.v8)
            return known->second.v8;
    }
    return std::nullopt;
}

uint32_t LiveUnwind::follow_v8(pid_t pid, uint64_t now_ns) {
    const auto layout = find_v8(pid, now_ns);
    if (!layout) {
        v8_.end(pid);
        return 0;
    }
    v8_.set(pid, mappings_.image_began(pid), *layout);
    return *layout + 1;
}

bool LiveUnwind::lacked_functions(pid_t pid, uint64_t time_ns) const {
    if (find_v8(pid, time_ns))
        return true;
    const auto process = processes_.find(pid);
    if (process != processes_.end())
        for (const Process::Known& one : {process->second.python, process->second.php})
            if (one.address && one.since_ns <= time_ns)
                return false;
    return std::ranges::any_of(mappings_.mappings(pid, time_ns), [&](const ModuleMapping& mapping) {
        const auto known = known_.find(mapping.module.value);
        return known != known_.end() && (known->second.python || known->second.php);
    });
}

void LiveUnwind::install_runtime(ModuleId id, Module& module, const UnwindTables& tables,
                                 uint64_t now_ns) {
    // Its file may be the interpreter's.
    if (tables.asyncio && !module.asyncio) {
        module.asyncio = tables.asyncio;
        if (!tables.python)
            renew_processes(id, now_ns);
    }
    if (tables.python && !module.python) {
        install_python(id, module, *tables.python, now_ns);
    } else if (tables.hotspot && !module.hotspot) {
        module.hotspot = tables.hotspot;
        renew_processes(id, now_ns);
    } else if (tables.php && !module.php) {
        install_php(id, module, *tables.php, now_ns);
    } else if (tables.v8 && !module.v8) {
        install_v8(id, module, *tables.v8, now_ns);
    }
}

void LiveUnwind::install_python(ModuleId id, Module& module, const PythonFile& file,
                                uint64_t now_ns) {
    const auto layout = python_.enter(file, owner_of(id));
    if (!layout) {
        module.note = layout.error().message();
        return;
    }
    module.python = {file.runtime, *layout};
    renew_processes(id, now_ns);
}

void LiveUnwind::install_php(ModuleId id, Module& module, const PhpFile& file, uint64_t now_ns) {
    const auto layout = php_.enter(file, owner_of(id));
    if (!layout) {
        module.note = layout.error().message();
        return;
    }
    module.php = {file.globals, *layout};
    renew_processes(id, now_ns);
}

void LiveUnwind::install_v8(ModuleId id, Module& module, const V8File& file, uint64_t now_ns) {
    const auto layout = v8_.enter(file, owner_of(id));
    if (!layout) {
        module.note = layout.error().message();
        return;
    }
    module.v8 = *layout;
    renew_processes(id, now_ns);
}

FileOwner LiveUnwind::owner_of(ModuleId id) const {
    const ModuleSource source = modules_.source(id);
    return FileOwner::of_file(source.file.get(), source.root ? source.root.get() : -1);
}

} // namespace auger
