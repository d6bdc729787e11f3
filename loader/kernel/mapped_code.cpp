// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/mapped_code.h"

#include "loader/process/proc_info.h"
#include "loader/process/proc_maps.h"
#include "loader/process/run_in_time.h"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace auger {

namespace {

// An instruction has at most 15 bytes.
using Code = std::array<char, 16>;

bool is_as_in_file(int memory, const Mapping& mapping, int file, uint64_t offset) {
    const size_t size =
        std::min<uint64_t>(sizeof(Code), mapping.end - mapping.start - (offset - mapping.offset));
    Code in_file = {}, in_memory = {};
    const ssize_t there = pread(file, in_file.data(), size, static_cast<off_t>(offset));
    const auto address = static_cast<off_t>(mapping.start + (offset - mapping.offset));
    return there > 0 &&
           pread(memory, in_memory.data(), static_cast<size_t>(there), address) == there &&
           std::memcmp(in_file.data(), in_memory.data(), static_cast<size_t>(there)) == 0;
}

bool runs_other_code(pid_t pid, FileIdentity mapped, int file, std::span<const uint64_t> offsets) {
    auto maps = read_maps(pid);
    if (!maps)
        return false;
    UniqueFd memory;
    for (const Mapping& mapping : *maps) {
        if (!mapping.executable || FileIdentity{mapping.device, mapping.inode} != mapped)
            continue;
        if (!memory) {
            memory.reset(open(fmt::format("/proc/{}/mem", living_thread(pid)).c_str(),
                              O_RDONLY | O_CLOEXEC));
            if (!memory)
                return errno != ENOENT && errno != ESRCH; // of what cannot be seen the worst
        }
        for (uint64_t offset : offsets) {
            if (offset >= mapping.offset && offset - mapping.offset < mapping.end - mapping.start &&
                !is_as_in_file(memory.get(), mapping, file, offset))
                return true;
        }
    }
    return false;
}

} // namespace

std::optional<pid_t> find_other_code(pid_t pid, FileIdentity mapped, int file_fd,
                                     std::span<const uint64_t> offsets) {
    std::vector<pid_t> pids = {pid};
    if (pid == 0) {
        auto all = all_pids();
        pids = all ? *std::move(all) : std::vector<pid_t>();
    }
    // Of both threads: pages of a file may be long in coming.
    const auto file = std::make_shared<const UniqueFd>(fcntl(file_fd, F_DUPFD_CLOEXEC, 0));
    const std::vector<uint64_t> places(offsets.begin(), offsets.end());
    const auto found = std::ranges::find_if(pids, [&](pid_t one) {
        const auto look = [one, mapped, file, places] {
            return runs_other_code(one, mapped, file->get(), places);
        };
        return result_in_time(one, look, tenths_for_files).value_or(true);
    });
    return found == pids.end() ? std::nullopt : std::optional(*found);
}

} // namespace auger
