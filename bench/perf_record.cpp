// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/perf_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace auger::bench {

PerfRecord::PerfRecord(const std::string& perf, pid_t pid, uint32_t rate_hz,
                       const std::string& call_graph, const std::string& file) {
    std::array<int, 2> control, answers;
    if (pipe2(control.data(), O_CLOEXEC) < 0 || pipe2(answers.data(), O_CLOEXEC) < 0)
        throw std::runtime_error("pipe");
    control_.reset(control[1]);
    answers_.reset(answers[0]);
    UniqueFd child_control(control[0]), child_answers(answers[1]);
    child_.emplace(
        std::vector<std::string>{perf, "record", "-q", "-F", std::to_string(rate_hz),
                                 "--call-graph", call_graph, "-D", "-1",
                                 fmt::format("--control=fd:{},{}", control[0], answers[1]), "-p",
                                 std::to_string(pid), "-o", file},
        Output::nowhere, std::vector<int>{control[0], answers[1]});
}

PerfRecord::~PerfRecord() {
    child_->interrupt();
}

void PerfRecord::tell(const std::string& command) {
    const std::string line = command + "\n";
    char answer[16];
    if (write(control_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
        read(answers_.get(), answer, sizeof(answer)) <= 0)
        throw std::runtime_error("perf record does not answer");
}

} // namespace auger::bench
