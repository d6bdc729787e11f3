// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/proc_maps.h"

#include <sys/sysmacros.h>

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

} // namespace auger
