// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/proc_maps.h"

#include "loader/process/proc_info.h"
#include "loader/process/safe_open.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <charconv>

namespace auger {
namespace {

// Takes a number up to `end` off the front of `text`; false when it is not there.
bool take_number(std::string_view& text, int base, char end, uint64_t& value) {
    const char* begin = text.data();
    const auto [stop, error] = std::from_chars(begin, begin + text.size(), value, base);
    if (error != std::errc() || stop == begin + text.size() || *stop != end)
        return false;
    text.remove_prefix(static_cast<size_t>(stop - begin) + 1);
    return true;
}

// The kernel writes a newline within a path as \012 and nothing else.
std::string unescape(std::string_view path) {
    std::string plain;
    plain.reserve(path.size());
    for (size_t at = 0; at < path.size();) {
        if (path.substr(at, 4) == "\\012") {
            plain += '\n';
            at += 4;
        } else {
            plain += path[at++];
        }
    }
    return plain;
}

// start-end perms offset major:minor inode [path]
bool parse_line(std::string_view line, Mapping& mapping) {
    if (!take_number(line, 16, '-', mapping.start) || !take_number(line, 16, ' ', mapping.end) ||
        mapping.end <= mapping.start || line.size() < 5 || line[4] != ' ')
        return false;
    mapping.writable = line[1] == 'w';
    mapping.executable = line[2] == 'x';
    mapping.shared = line[3] == 's';
    line.remove_prefix(5);
    uint64_t major_number = 0, minor_number = 0;
    if (!take_number(line, 16, ' ', mapping.offset) || !take_number(line, 16, ':', major_number) ||
        !take_number(line, 16, ' ', minor_number))
        return false;
    // Newer kernels end the line of anonymous memory right after the inode.
    const std::string padded = std::string(line) + ' ';
    std::string_view rest = padded;
    if (!take_number(rest, 10, ' ', mapping.inode))
        return false;
    mapping.device =
        makedev(static_cast<unsigned>(major_number), static_cast<unsigned>(minor_number));
    rest.remove_suffix(rest.empty() ? 0 : 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    constexpr std::string_view deleted = " (deleted)";
    mapping.deleted = rest.ends_with(deleted);
    if (mapping.deleted)
        rest.remove_suffix(deleted.size());
    mapping.path = unescape(rest);
    return true;
}

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

} // namespace

std::vector<Mapping> parse_maps(std::string_view text) {
    std::vector<Mapping> mappings;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        Mapping mapping{};
        if (parse_line(text.substr(0, end), mapping))
            mappings.push_back(std::move(mapping));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return mappings;
}

Result<std::vector<Mapping>> read_maps(pid_t pid) {
    auto text = read_file(fmt::format("/proc/{}/maps", pid), 256 << 20);
    if (text && text->empty())
        if (const pid_t thread = living_thread(pid); thread != pid)
            text = read_file(fmt::format("/proc/{}/maps", thread), 256 << 20);
    if (!text) {
        Error error = text.error();
        error.operation = "read mappings of process";
        error.subject = std::to_string(pid);
        if (error.cause == std::strerror(ENOENT))
            error.cause = std::strerror(ESRCH);
        return error;
    }
    return parse_maps(*text);
}

Result<UniqueFd> open_mapped_file(pid_t pid, const Mapping& mapping) {
    if (mapping.inode == 0)
        return Error{"open", mapping.path, "not a mapping of a file", {}};
    auto file = open_mapped_file_in(pid, mapping);
    if (file)
        return file;
    const pid_t thread = living_thread(pid);
    return thread == pid ? std::move(file) : open_mapped_file_in(thread, mapping);
}

} // namespace auger
