// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/perf_map.h"

#include "loader/process/safe_open.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace auger {
namespace {

bool take_hexadecimal(std::string_view& text, uint64_t& value) {
    if (text.starts_with("0x"))
        text.remove_prefix(2);
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || stop == text.data() + text.size() || *stop != ' ')
        return false;
    text.remove_prefix(static_cast<size_t>(stop - text.data()) + 1);
    return true;
}

constexpr size_t name_limit = 4096;

} // namespace

void PerfMap::add(std::string_view text) {
    while (!text.empty()) {
        const size_t line_end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, line_end);
        text.remove_prefix(std::min(line_end + 1, text.size()));
        uint64_t start = 0, size = 0;
        if (!take_hexadecimal(line, start) || !take_hexadecimal(line, size) || line.empty() ||
            size == 0 || start + size < start || ranges_.size() >= most_ranges) {
            skipped_++;
            continue;
        }
        add_range(start, start + size, line.substr(0, name_limit));
    }
}

void PerfMap::add_range(uint64_t start, uint64_t end, std::string_view name) {
    auto at = ranges_.upper_bound(start);
    if (at != ranges_.begin() && std::prev(at)->second.end > start)
        --at;
    while (at != ranges_.end() && at->first < end) {
        const uint64_t old_start = at->first;
        Range old = std::move(at->second);
        at = ranges_.erase(at);
        if (old.end > end)
            at = ranges_.emplace(end, Range{old.end, old.name}).first;
        if (old_start < start)
            ranges_.emplace(old_start, Range{start, std::move(old.name)});
    }
    ranges_.insert_or_assign(start, Range{end, std::make_shared<const std::string>(name)});
}

std::optional<std::string_view> PerfMap::find(uint64_t address) const {
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin())
        return std::nullopt;
    const Range& range = std::prev(after)->second;
    if (address >= range.end)
        return std::nullopt;
    return *range.name;
}

PerfMapFile::PerfMapFile(int root, pid_t namespace_pid, uid_t uid, std::string folder)
    : root_(root), uid_(uid), path_(fmt::format("{}/perf-{}.map", folder, namespace_pid)) {}

Result<bool> PerfMapFile::refresh() {
    const auto file = open_regular_beneath(root_, path_, Symlinks::refuse);
    if (!file)
        return file.error();
    struct stat status;
    if (fstat(file->get(), &status) != 0)
        return system_error("read", path_);
    if (status.st_uid != uid_ && status.st_uid != 0)
        return Error{"read", path_, "owned by another user than the process", {}};
    const uint64_t size = std::min(static_cast<uint64_t>(status.st_size), PerfMap::size_limit);
    const bool same = status.st_dev == device_ && status.st_ino == inode_ && size >= read_;
    if (same && size == read_)
        return false;
    if (!same) {
        map_ = {};
        read_ = 0;
    }
    device_ = status.st_dev;
    inode_ = status.st_ino;

    // Chunks of whole lines; an unfinished last line is read again when it has been completed.
    std::vector<char> chunk(1 << 20);
    size_t kept = 0;
    uint64_t position = read_;
    bool news = false;
    while (position < size) {
        const size_t want = std::min<uint64_t>(chunk.size() - kept, size - position);
        const ssize_t got =
            pread(file->get(), chunk.data() + kept, want, static_cast<off_t>(position));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break; // truncated meanwhile
        position += static_cast<uint64_t>(got);
        std::string_view text(chunk.data(), kept + static_cast<size_t>(got));
        const size_t last = text.rfind('\n');
        // A line longer than the chunk is no honest one: its pieces are skipped as malformed.
        const size_t whole = last != text.npos             ? last + 1
                             : text.size() == chunk.size() ? text.size()
                                                           : 0;
        if (whole) {
            map_.add(text.substr(0, whole));
            news = true;
        }
        kept = text.size() - whole;
        std::copy(chunk.begin() + static_cast<std::ptrdiff_t>(whole),
                  chunk.begin() + static_cast<std::ptrdiff_t>(whole + kept), chunk.begin());
    }
    read_ = position - kept;
    return news;
}

} // namespace auger
