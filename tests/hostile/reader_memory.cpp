// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/hostile/reader_memory.h"

#include "tests/hostile/process_figures.h"
#include "tests/support/children.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace auger::test {

std::vector<pid_t> readers_of(pid_t auger) {
    std::vector<pid_t> all;
    for (const pid_t child : children_of(auger)) {
        std::ifstream file("/proc/" + std::to_string(child) + "/comm");
        std::string comm;
        if (!std::getline(file, comm) || comm != "auger-readers")
            continue;
        const std::vector<pid_t> readers = children_of(child);
        all.insert(all.end(), readers.begin(), readers.end());
    }
    return all;
}

ReaderMemory::ReaderMemory(pid_t auger) : thread_([this, auger] { watch(auger); }) {}

ReaderMemory::~ReaderMemory() {
    stop_ = true;
    thread_.join();
}

void ReaderMemory::watch(pid_t auger) {
    while (!stop_) {
        const std::vector<pid_t> readers = readers_of(auger);
        uint64_t sum = 0;
        for (const pid_t reader : readers)
            sum += memory_of(reader, "VmRSS");
        most_ = std::max(most_.load(), sum);
        looks_ += !readers.empty();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

} // namespace auger::test
