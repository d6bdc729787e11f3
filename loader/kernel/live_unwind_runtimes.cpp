// SPDX-License-Identifier: GPL-3.0-or-later
// Which runtimes processes have, by the files that they map: the part of LiveUnwind that knows
// them.
#include "loader/kernel/live_unwind.h"
#include "loader/kernel/thread_places.h"
#include "loader/probes/module_name.h"
#include "loader/process/proc_maps.h"

#include <fmt/format.h>
#include <sys/stat.h>

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

template <typename File>
std::optional<LiveUnwind::Found<File>>
LiveUnwind::find_runtime(const ModuleMapping& mapping,
                         std::optional<Module::Runtime<File>> Module::*which) const {
    const auto known = known_.find(mapping.module.value);
    if (known == known_.end() || !(known->second.*which))
        return std::nullopt;
    const auto bias = bias_of(known->second, mapping);
    if (!bias)
        return std::nullopt;
    return Found<File>{*(known->second.*which), *bias};
}

void LiveUnwind::find_python(pid_t pid, const ModuleMapping& mapping, wire_unwind_process& entry) {
    const auto found = entry.python ? std::nullopt : find_runtime(mapping, &Module::python);
    if (!found)
        return;
    entry.python = found->runtime.file + found->bias;
    entry.python_layout = found->runtime.layout;
    python_.set(pid, mappings_.image_began(pid), entry.python_layout, entry.python);
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
    const auto found = entry.php ? std::nullopt : find_runtime(mapping, &Module::php);
    if (!found)
        return;
    entry.php = found->runtime.file + found->bias;
    entry.php_layout = found->runtime.layout;
    php_.set(pid, mappings_.image_began(pid), entry.php_layout);
}

void LiveUnwind::find_perl(pid_t pid, const ModuleMapping& mapping, wire_unwind_process& entry) {
    const auto found = entry.perl ? std::nullopt : find_runtime(mapping, &Module::perl);
    if (!found)
        return;
    const PerlFile& file = found->runtime.file;
    entry.perl = file.key + found->bias;
    entry.perl_layout = found->runtime.layout;
    perl_.set(pid, mappings_.image_began(pid), entry.perl_layout, file, found->bias);
}

void LiveUnwind::find_go(const ModuleMapping& mapping, wire_unwind_process& entry) const {
    const auto found = entry.go.m_curg ? std::nullopt : find_runtime(mapping, &Module::go);
    if (found)
        entry.go = found->runtime.file.labels;
}

void LiveUnwind::find_tokio(const ModuleMapping& mapping, wire_unwind_process& entry) const {
    const auto found = entry.tokio.id ? std::nullopt : find_runtime(mapping, &Module::tokio);
    if (found)
        entry.tokio = found->runtime.file.task;
}

bool LiveUnwind::find_ruby(pid_t pid, const ModuleMapping& mapping, uint64_t now_ns,
                           wire_unwind_process& entry) {
    const auto found = find_runtime(mapping, &Module::ruby);
    if (!found || entry.ruby.way)
        return found.has_value();
    const auto& [file, layout] = found->runtime;
    const auto place = ruby_.set(
        pid, {mappings_.image_began(pid), layout, found->bias}, file, now_ns, [&](bool& is_late) {
            return find_variable_of_threads(pid, mapping, *file.context, is_late);
        });
    if (!place) {
        known_.at(mapping.module.value).note = place.error().message();
    } else if (*place) {
        entry.ruby = **place;
        entry.ruby_layout = layout;
    }
    return true;
}

Result<std::optional<wire_thread_place>>
LiveUnwind::find_variable_of_threads(pid_t pid, const ModuleMapping& mapping,
                                     const ThreadVariable& variable, bool& is_late) {
    const auto maps = read_maps(pid);
    if (!maps)
        return std::optional<wire_thread_place>();
    const auto mapped = std::ranges::find(*maps, mapping.start, &Mapping::start);
    const ModuleSource source = modules_.source(mapping.module);
    struct stat status = {};
    if (mapped == maps->end() || fstat(source.file.get(), &status) < 0)
        return std::optional<wire_thread_place>();
    const bool is_program = executes_file(pid, {status.st_dev, status.st_ino});
    return find_thread_place(
        pid, {{mapped->device, mapped->inode}, modules_.segments(mapping.module), is_program},
        variable, is_late);
}

LoopCode LiveUnwind::php_loop(pid_t pid) const {
    const auto process = processes_.find(pid);
    if (process == processes_.end() || !process->second.php.address)
        return {};
    return loop_at(php_.layout(process->second.php_layout).loop, process->second.php.address);
}

uint64_t LiveUnwind::php_globals(pid_t pid) const {
    const auto process = processes_.find(pid);
    return process == processes_.end() ? 0 : process->second.php.address;
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
        const auto number = hotspot_.set(
            pid, mappings_.image_began(pid),
            {module.hotspot->structs + *bias, module.hotspot->types + *bias}, now_ns,
            [&](bool& is_late) -> Result<std::optional<wire_thread_place>> {
                if (!module.hotspot->thread)
                    return std::optional<wire_thread_place>();
                return find_variable_of_threads(pid, mapping, *module.hotspot->thread, is_late);
            });
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
        for (const Process::Known& one : {process->second.python, process->second.php,
                                          process->second.ruby, process->second.perl})
            if (one.address && one.since_ns <= time_ns)
                return false;
    return std::ranges::any_of(mappings_.mappings(pid, time_ns), [&](const ModuleMapping& mapping) {
        const auto known = known_.find(mapping.module.value);
        return known != known_.end() &&
               (known->second.python || known->second.php || known->second.perl ||
                (known->second.ruby && !ruby_.gave_up(pid)));
    });
}

void LiveUnwind::enter_go(ModuleId id, const GoFile& file, Module& module) {
    module.go = {file, 0};
    if (file.sets_labels && !file.has_known_labels())
        module.note =
            fmt::format("{}: {}", module_base_name(modules_.info(id).path), file.problem());
}

void LiveUnwind::enter_tokio(ModuleId id, const TokioFile& file, Module& module) {
    module.tokio = {file, 0};
    if (!file.task.id)
        module.note = fmt::format("{}: where tokio notes which task runs is not understood",
                                  module_base_name(modules_.info(id).path));
}

void LiveUnwind::install_runtime(ModuleId id, Module& module, const UnwindTables& tables,
                                 uint64_t now_ns) {
    // Whether what the file says of one is new, and its layout has a number.
    const auto enter = [&](auto& processes, const auto& told, const auto& known, uint32_t& number) {
        if (!told || known)
            return false;
        const auto layout = processes.enter(*told, owner_of(id));
        if (layout)
            number = *layout;
        else
            module.note = layout.error().message();
        return layout.ok();
    };
    // Its file may be the interpreter's.
    if (tables.asyncio && !module.asyncio) {
        module.asyncio = tables.asyncio;
        if (!tables.python)
            renew_processes(id, now_ns);
    }
    uint32_t layout = 0;
    if (enter(python_, tables.python, module.python, layout))
        module.python = {tables.python->runtime, layout};
    else if (tables.hotspot && !module.hotspot)
        module.hotspot = tables.hotspot;
    else if (enter(php_, tables.php, module.php, layout))
        module.php = {tables.php->globals, layout};
    else if (enter(v8_, tables.v8, module.v8, layout))
        module.v8 = layout;
    else if (enter(ruby_, tables.ruby, module.ruby, layout))
        module.ruby = {*tables.ruby, layout};
    else if (enter(perl_, tables.perl, module.perl, layout))
        module.perl = {*tables.perl, layout};
    else if (tables.go && !module.go)
        enter_go(id, *tables.go, module);
    else if (tables.tokio && !module.tokio)
        enter_tokio(id, *tables.tokio, module);
    else
        return;
    renew_processes(id, now_ns);
}

FileOwner LiveUnwind::owner_of(ModuleId id) const {
    const ModuleSource source = modules_.source(id);
    return FileOwner::of_file(source.file.get(), source.root ? source.root.get() : -1);
}

} // namespace auger
