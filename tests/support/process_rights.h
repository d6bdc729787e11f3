// SPDX-License-Identifier: GPL-3.0-or-later
// What rights the kernel says that threads have: /proc/PID/task/TID/status.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace auger::test {

struct ProcessRights {
    std::string name;
    uint64_t permitted = ~uint64_t{0}, effective = ~uint64_t{0}, inheritable = ~uint64_t{0};
    uint64_t ambient = ~uint64_t{0}, bounding = ~uint64_t{0};
    uid_t uid = 0; // effective
    bool may_gain = true;
};

inline ProcessRights rights_in(const std::string& status) {
    ProcessRights rights;
    std::istringstream lines(status);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string key;
        words >> key;
        const auto read_set = [&](uint64_t& set) { words >> std::hex >> set; };
        if (key == "Name:")
            words >> rights.name;
        else if (key == "CapPrm:")
            read_set(rights.permitted);
        else if (key == "CapEff:")
            read_set(rights.effective);
        else if (key == "CapInh:")
            read_set(rights.inheritable);
        else if (key == "CapAmb:")
            read_set(rights.ambient);
        else if (key == "CapBnd:")
            read_set(rights.bounding);
        else if (key == "Uid:")
            words >> rights.uid >> rights.uid;
        else if (key == "NoNewPrivs:")
            rights.may_gain = line.back() == '0';
    }
    return rights;
}

inline ProcessRights rights_of(const std::filesystem::path& folder) {
    std::ifstream file(folder / "status");
    std::stringstream text;
    text << file.rdbuf();
    return rights_in(text.str());
}

inline ProcessRights rights_of(pid_t pid) {
    return rights_of(std::filesystem::path("/proc") / std::to_string(pid));
}

// By thread id.
inline std::map<pid_t, ProcessRights> rights_of_threads(pid_t pid) {
    std::map<pid_t, ProcessRights> all;
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task"))
        all.emplace(std::stoi(thread.path().filename()), rights_of(thread.path()));
    return all;
}

} // namespace auger::test
