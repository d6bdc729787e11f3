// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/hostile/process_figures.h"

#include "tests/support/children.h"

#include <fstream>

namespace auger::test {
namespace {

// The second number: nanoseconds.
std::chrono::nanoseconds run_delay(const std::string& path) {
    std::ifstream file(path);
    int64_t ran = 0, waited = 0;
    file >> ran >> waited;
    return std::chrono::nanoseconds(waited);
}

} // namespace

uint64_t memory_of(pid_t pid, const std::string& what) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(what + ":"))
            return std::stoull(line.substr(what.size() + 1)) << 10;
    return 0;
}

uint64_t open_files_of(pid_t pid) {
    return names_in("/proc/" + std::to_string(pid) + "/fd").size();
}

std::chrono::nanoseconds run_delay_of(pid_t pid) {
    return run_delay("/proc/" + std::to_string(pid) + "/schedstat");
}

std::map<pid_t, std::chrono::nanoseconds> run_delays_of_family(pid_t pid) {
    std::map<pid_t, std::chrono::nanoseconds> delays;
    for (const std::string& thread : names_in("/proc/" + std::to_string(pid) + "/task"))
        delays[std::stoi(thread)] = run_delay("/proc/" + thread + "/schedstat");
    for (const pid_t child : children_of(pid))
        delays.merge(run_delays_of_family(child));
    return delays;
}

std::chrono::nanoseconds own_run_delay() {
    return run_delay("/proc/thread-self/schedstat");
}

} // namespace auger::test
