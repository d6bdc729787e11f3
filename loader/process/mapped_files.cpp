// SPDX-License-Identifier: GPL-3.0-or-later
// What a process has mapped, in a bounded time: see run_in_time.h.
#include "loader/process/proc_info.h"
#include "loader/process/proc_maps.h"
#include "loader/process/run_in_time.h"
#include "loader/process/safe_open.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

namespace auger {
namespace {

bool same_file(int fd, const Mapping& mapping) {
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_dev == mapping.device &&
           status.st_ino == mapping.inode;
}

// Whether the file is the one that the mapping was said to be of. Between the reading of
// /proc/PID/maps and the opening of what stands there the process may have mapped another file, and
// what we take from it would be believed of the first, by whoever else maps that. Where maps has
// other numbers than fstat() (btrfs, overlayfs) a mapping of our own tells what it has.
bool is_file_of(int fd, const Mapping& mapping) {
    if (same_file(fd, mapping))
        return true;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* const own = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE, fd, 0);
    if (own == MAP_FAILED)
        return false;
    const auto text = read_file("/proc/self/maps", 256 << 20);
    munmap(own, page);
    for (const Mapping& candidate : text ? parse_maps(*text) : std::vector<Mapping>())
        if (candidate.start == reinterpret_cast<uint64_t>(own))
            return candidate.device == mapping.device && candidate.inode == mapping.inode;
    return false;
}

// `tid` is the process or, when its first thread has ended, another of its threads.
Result<UniqueFd> open_mapped_file_in(pid_t tid, const Mapping& mapping) {
    // This link is the file itself, whatever happened to its name; it needs CAP_CHECKPOINT_RESTORE.
    auto file =
        open_regular(fmt::format("/proc/{}/map_files/{:x}-{:x}", tid, mapping.start, mapping.end));
    if (file && is_file_of(file->get(), mapping))
        return file;
    // So is this one, for the program's own file, without the capability.
    auto exe = open_regular(fmt::format("/proc/{}/exe", tid));
    if (exe && same_file(exe->get(), mapping))
        return exe;
    // Of a process that is gone already the file may be ours, too: what counts is its identity.
    auto root = open_folder(fmt::format("/proc/{}/root", tid));
    if (!root)
        root = open_folder("/");
    if (!root)
        return root.error();
    file = open_regular_beneath(root->get(), mapping.path, Symlinks::follow);
    if (file && !same_file(file->get(), mapping))
        return Error{"open", mapping.path, "replaced since it was mapped", {}};
    return file;
}

Result<std::string> maps_text(pid_t pid) {
    auto text = read_file(fmt::format("/proc/{}/maps", pid), 256 << 20);
    if (text && text->empty())
        if (const pid_t thread = living_thread(pid); thread != pid)
            text = read_file(fmt::format("/proc/{}/maps", thread), 256 << 20);
    return text;
}

} // namespace

Result<std::vector<Mapping>> read_maps(pid_t pid) {
    const std::string operation = "read mappings of process";
    const auto text = pid == getpid()
                          ? std::optional(maps_text(pid))
                          : result_in_time(
                                pid, [pid] { return maps_text(pid); }, tenths_for_mappings);
    if (!text)
        return process_error(operation, pid, "timed out");
    if (!*text)
        return process_error(operation, pid, text->error().cause);
    return parse_maps(**text);
}

Result<UniqueFd> open_mapped_file(pid_t pid, const Mapping& mapping) {
    if (mapping.inode == 0)
        return Error{"open", mapping.path, "not a mapping of a file", {}};
    const auto open = [pid, mapping] {
        auto file = open_mapped_file_in(pid, mapping);
        const pid_t thread = file ? pid : living_thread(pid);
        return thread == pid ? std::move(file) : open_mapped_file_in(thread, mapping);
    };
    auto file = result_in_time(pid, open, tenths_for_files);
    if (!file)
        return Error{"open", mapping.path, "timed out", {}};
    return std::move(*file);
}

} // namespace auger
