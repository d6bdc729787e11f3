// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/server_process.h"

#include "tests/support/wait.h"

#include <csignal>
#include <fstream>
#include <stdexcept>

namespace auger::test {

void ServerProcess::start(const std::string& program, const std::vector<std::string>& arguments) {
    process_ = std::make_unique<Program>(program, arguments);
    std::string why;
    const bool answers = wait_until([&] {
        try {
            expect_answer();
            return true;
        } catch (const std::runtime_error& error) {
            why = error.what();
            return false;
        }
    });
    if (!answers)
        throw std::runtime_error(program + " does not answer: " + why);
}

int ServerProcess::end(int signal) {
    process_->signal(signal);
    return process_->wait_exit();
}

std::vector<std::string> ServerProcess::new_lines(const std::string& log) {
    std::ifstream file(log);
    file.seekg(lines_read_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line); lines_read_ = file.tellg())
        lines.push_back(line);
    return lines;
}

} // namespace auger::test
