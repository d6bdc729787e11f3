// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/module_map.h"

#include "loader/symbols/generated_files.h"

#include <algorithm>
#include <limits>

namespace auger {
namespace {

constexpr uint64_t for_ever = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kernel_half = uint64_t{1} << 63;

bool by_start(const ModuleMapping& a, const ModuleMapping& b) {
    return a.start != b.start ? a.start < b.start : a.from < b.from;
}

Mapping mapping_of(const ProcessEvent& event) {
    Mapping mapping{};
    mapping.start = event.address;
    mapping.end = event.address + event.length;
    mapping.offset = event.offset;
    mapping.device = event.device;
    mapping.inode = event.inode;
    mapping.executable = true;
    mapping.path = event.text;
    constexpr std::string_view deleted = " (deleted)";
    mapping.deleted = mapping.path.ends_with(deleted);
    if (mapping.deleted)
        mapping.path.resize(mapping.path.size() - deleted.size());
    return mapping;
}

} // namespace

ModuleMap::ModuleMap(ModuleTable& modules, Limits limits) : modules_(modules), limits_(limits) {}

ModuleMap::Image& ModuleMap::new_image(Process& process, uint64_t time) {
    if (process.images.size() >= limits_.images_per_process)
        process.images.erase(process.images.begin());
    process.images.push_back({time, {}, unknown_module});
    return process.images.back();
}

void ModuleMap::use_jit(Image& image, ModuleId module) {
    for (ModuleMapping& mapping : image.mappings)
        if (mapping.module == image.jit && image.jit != unknown_module)
            mapping.module = module;
    image.jit = module;
}

void ModuleMap::renew_jit(ModuleId module) {
    ModuleId renewed = unknown_module;
    for (auto& [pid, process] : processes_) {
        if (process.images.empty() || process.images.back().jit != module)
            continue;
        if (renewed == unknown_module)
            renewed = modules_.renewed_jit_module(module);
        use_jit(process.images.back(), renewed);
    }
}

ModuleId ModuleMap::file_of(pid_t pid, const Mapping& mapping, FilesOfScan* known) {
    if (!known)
        return modules_.file_module(pid, mapping);
    const auto [at, is_new] = known->try_emplace({mapping.device, mapping.inode});
    if (is_new)
        at->second = modules_.file_module(pid, mapping);
    return at->second;
}

void ModuleMap::add_mapping(pid_t pid, Image& image, const Mapping& mapping, uint64_t time,
                            FilesOfScan* known) {
    ModuleMapping added{mapping.start, mapping.end, mapping.offset, unknown_module, time, for_ever};
    if (mapping.path == "[vdso]") {
        added.module = vdso_module;
        added.offset = 0;
    } else if (mapping.inode != 0 && is_jit_dump(mapping.path)) {
        // A page of it, mapped executable, is how a JIT makes it known.
        if (const std::pair dump{mapping.device, mapping.inode}; image.jit_dump != dump) {
            use_jit(image, modules_.jit_module(pid, &mapping));
            image.jit_dump = dump;
        }
        added.module = image.jit;
    } else if (mapping.inode != 0 && mapping.path.starts_with('/') &&
               !mapping.path.starts_with("/memfd:") && !mapping.path.starts_with("/dev/zero")) {
        added.module = file_of(pid, mapping, known);
    } else if (mapping.path != "[vsyscall]") {
        // JITs map code anonymously or, to write it at another address, from memory files.
        if (image.jit == unknown_module)
            image.jit = modules_.jit_module(pid);
        added.module = image.jit;
    }
    // What it covers has been unmapped; the kernel does not tell otherwise.
    const auto behind =
        std::lower_bound(image.mappings.begin(), image.mappings.end(), added.end,
                         [](const ModuleMapping& one, uint64_t end) { return one.start < end; });
    for (auto at = behind; at != image.mappings.begin();) {
        ModuleMapping& old = *--at;
        if (old.to != for_ever)
            continue;
        if (old.end <= added.start)
            break; // so do all before it, since those that are there do not overlap
        if (old.start == added.start && old.end == added.end && old.module == added.module &&
            old.offset == added.offset)
            return; // seen again by a scan
        old.to = std::max(old.from, time);
    }
    if (image.mappings.size() >= limits_.mappings_per_image) {
        refused_++;
        return;
    }
    image.mappings.insert(
        std::upper_bound(image.mappings.begin(), image.mappings.end(), added, by_start), added);
}

Result<void> ModuleMap::scan(pid_t pid, uint64_t now) {
    const auto mappings = read_maps(pid);
    if (!mappings)
        return mappings.error();
    changed_.insert(pid);
    Process& process = processes_[pid];
    // What is there at first sight was there before: samples may be older than our look.
    const bool first = process.images.empty();
    Image& image = first ? new_image(process, 0) : process.images.back();
    FilesOfScan files;
    for (const Mapping& mapping : *mappings)
        if (mapping.executable)
            add_mapping(pid, image, mapping, first ? 0 : now, &files);
    return {};
}

void ModuleMap::apply(const ProcessEvent& event) {
    const auto pid = static_cast<pid_t>(event.pid);
    switch (event.kind) {
    case ProcessEvent::Kind::mmap: {
        if (event.pid == 0 || event.pid == std::numeric_limits<uint32_t>::max())
            return; // the kernel's own
        changed_.insert(pid);
        // The event of its birth was lost: it has more than this one.
        if (!knows(pid))
            (void)scan(pid, event.time);
        Process& process = processes_[pid];
        Image& image = process.images.empty() ? new_image(process, 0) : process.images.back();
        add_mapping(pid, image, mapping_of(event), event.time);
        return;
    }
    case ProcessEvent::Kind::exec:
        changed_.insert(pid);
        processes_[pid].exited = 0; // its first thread had ended when another called exec
        new_image(processes_[pid], event.time);
        return;
    case ProcessEvent::Kind::fork: {
        if (!event.new_process())
            return;
        changed_.insert(pid);
        const auto parent = processes_.find(static_cast<pid_t>(event.parent_pid));
        Image image{event.time, {}, unknown_module};
        image.forked_from = static_cast<pid_t>(event.parent_pid);
        if (parent != processes_.end() && !parent->second.images.empty()) {
            for (const ModuleMapping& mapping : parent->second.images.back().mappings)
                if (mapping.to == for_ever)
                    image.mappings.push_back(mapping);
            image.jit = parent->second.images.back().jit;
            image.jit_dump = parent->second.images.back().jit_dump;
        }
        Process& child = processes_[pid]; // a number used again keeps the former one's images
        child.exited = 0;
        new_image(child, event.time) = std::move(image);
        return;
    }
    case ProcessEvent::Kind::exit: {
        const auto process = processes_.find(pid);
        // The first thread may leave before the others, whose samples go on to resolve.
        if (event.pid != event.tid || process == processes_.end())
            return;
        changed_.insert(pid);
        process->second.exited = std::max<uint64_t>(event.time, 1);
        exit_order_.push_back(pid);
        forget_oldest();
        return;
    }
    case ProcessEvent::Kind::comm:
    case ProcessEvent::Kind::lost:
        return;
    }
}

void ModuleMap::forget_oldest() {
    while (exit_order_.size() > limits_.exited_processes) {
        const auto process = processes_.find(exit_order_.front());
        exit_order_.pop_front();
        if (process != processes_.end() && process->second.exited) {
            processes_.erase(process);
            forgotten_++;
        }
    }
}

const ModuleMap::Image* ModuleMap::image_at(pid_t pid, uint64_t time) const {
    const auto process = processes_.find(pid);
    if (process == processes_.end() || process->second.images.empty())
        return nullptr;
    const auto& images = process->second.images;
    for (size_t i = images.size(); i-- > 0;)
        if (images[i].from <= time)
            return &images[i];
    return &images.front();
}

std::vector<pid_t> ModuleMap::lineage(pid_t pid, uint64_t time) const {
    std::vector<pid_t> found{pid};
    const Image* image = image_at(pid, time);
    while (image && image->forked_from && found.size() <= most_forebears) {
        found.push_back(image->forked_from);
        image = image_at(image->forked_from, image->from);
    }
    return found;
}

Location ModuleMap::locate(pid_t pid, uint64_t address, uint64_t time, bool is_return) const {
    if (address >= kernel_half)
        return {kernel_module, address, is_return};
    const Location nowhere{unknown_module, address, is_return};
    const Image* image = image_at(pid, time);
    if (!image)
        return nowhere;
    const uint64_t place = address - (is_return && address ? 1 : 0);
    // Sorted by start: all that may hold the place come before `end`. Of those that do, the one
    // that was there at the time, else (the clock of a scan) the latest.
    const auto end =
        std::upper_bound(image->mappings.begin(), image->mappings.end(), place,
                         [](uint64_t a, const ModuleMapping& m) { return a < m.start; });
    const ModuleMapping* found = nullptr;
    for (auto at = end; at != image->mappings.begin();) {
        --at;
        if (place >= at->end)
            continue;
        if (at->from <= time && time < at->to) {
            found = &*at;
            break;
        }
        if (!found || at->from > found->from)
            found = &*at;
    }
    if (!found || found->module == unknown_module)
        return nowhere;
    const uint64_t offset = address - found->start + found->offset;
    switch (modules_.info(found->module).kind) {
    case ModuleKind::file:
        // Translated where the code is: a return address may be the end of its segment.
        return {found->module,
                modules_.linked_address(found->module, offset - (address - place)) +
                    (address - place),
                is_return};
    case ModuleKind::vdso:
        return {found->module, offset, is_return};
    default:
        return {found->module, address, is_return};
    }
}

std::vector<ModuleMapping> ModuleMap::mappings(pid_t pid, uint64_t time) const {
    std::vector<ModuleMapping> present;
    if (const Image* image = image_at(pid, time))
        for (const ModuleMapping& mapping : image->mappings)
            if (mapping.from <= time && time < mapping.to)
                present.push_back(mapping);
    return present;
}

bool ModuleMap::exited(pid_t pid) const {
    const auto process = processes_.find(pid);
    return process != processes_.end() && process->second.exited;
}

uint64_t ModuleMap::image_began(pid_t pid) const {
    const auto process = processes_.find(pid);
    return process == processes_.end() || process->second.images.empty()
               ? 0
               : process->second.images.back().from;
}

std::vector<pid_t> ModuleMap::processes() const {
    std::vector<pid_t> pids;
    for (const auto& [pid, process] : processes_)
        pids.push_back(pid);
    std::sort(pids.begin(), pids.end());
    return pids;
}

} // namespace auger
