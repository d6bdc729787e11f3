// SPDX-License-Identifier: GPL-3.0-or-later
// The processes that a process has started, those of all its threads, but for what has ended.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace auger::test {

// What a folder of /proc holds, as far as it is still there.
inline std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code gone;
    // In steps that tell that the process has ended, where those of a range-based loop throw.
    for (std::filesystem::directory_iterator entry(folder, gone), end; !gone && entry != end;
         entry.increment(gone))
        names.push_back(entry->path().filename());
    return names;
}

inline std::vector<pid_t> children_of(pid_t pid) {
    std::vector<pid_t> all;
    const std::string threads = "/proc/" + std::to_string(pid) + "/task/";
    for (const std::string& thread : names_in(threads)) {
        std::ifstream list(threads + thread + "/children");
        all.insert(all.end(), std::istream_iterator<pid_t>(list), {});
    }
    std::erase_if(all, [](pid_t child) {
        std::ifstream file("/proc/" + std::to_string(child) + "/stat");
        std::string stat;
        std::getline(file, stat, '\0'); // not by iterators, which throw when the process is gone
        const size_t name_end = stat.rfind(") ");
        return name_end == stat.npos || stat[name_end + 2] == 'Z' || stat[name_end + 2] == 'X';
    });
    return all;
}

} // namespace auger::test
