// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/thread_places.h"

#include "loader/process/proc_info.h"
#include "loader/process/proc_maps.h"
#include "loader/process/process_memory.h"
#include "loader/values/thread_local_block.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace auger {

namespace {

bool is_musl(const Mapping& mapping) {
    const std::string_view name =
        std::string_view(mapping.path).substr(mapping.path.rfind('/') + 1);
    return name.starts_with("ld-musl-") || name.starts_with("libc.musl-");
}

// Whether the page that the dynamic linker writes to is there yet.
bool holds_slot(const std::vector<Mapping>& maps, const MappedFile& file, uint64_t bias,
                const ThreadVariable::Slot& slot) {
    const uint64_t address = bias + slot.address;
    return std::ranges::any_of(maps, [&](const Mapping& mapping) {
        return FileIdentity{mapping.device, mapping.inode} == file.mapped &&
               address >= mapping.start && address < mapping.end &&
               is_linked_to(file.segments, mapping.offset, address - mapping.start, slot.address);
    });
}

} // namespace

bool executes_file(pid_t pid, FileIdentity file) {
    struct stat status = {};
    return stat(fmt::format("/proc/{}/exe", living_thread(pid)).c_str(), &status) == 0 &&
           FileIdentity{status.st_dev, status.st_ino} == file;
}

Result<std::optional<wire_thread_place>> find_thread_place(pid_t pid, const MappedFile& file,
                                                           const ThreadVariable& variable,
                                                           bool& is_late) {
    const std::optional<wire_thread_place> too_early;
    const auto maps = read_maps(pid);
    if (!maps)
        return too_early;
    // The lowest mapping is the file's beginning.
    const auto mapping = std::ranges::find_if(*maps, [&](const Mapping& one) {
        return FileIdentity{one.device, one.inode} == file.mapped;
    });
    if (mapping == maps->end())
        return too_early;
    const auto linked = linked_address(file.segments, mapping->offset);
    if (!linked)
        return too_early;
    const uint64_t bias = mapping->start - *linked;
    if (!file.is_program && variable.slot && !holds_slot(*maps, file, bias, *variable.slot))
        return too_early;
    const pid_t tid = living_thread(pid);
    const auto read = [&](uint64_t address) -> std::optional<uint64_t> {
        uint64_t word = 0;
        const MemoryRead done = read_process_memory(tid, address, &word, sizeof word);
        is_late |= done == MemoryRead::late;
        return done == MemoryRead::whole ? std::optional(word) : std::nullopt;
    };
    return thread_place(variable, file.is_program, std::ranges::none_of(*maps, is_musl), bias,
                        read);
}

} // namespace auger
