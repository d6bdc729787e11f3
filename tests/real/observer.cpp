// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/observer.h"

#include <csignal>
#include <stdexcept>

namespace auger::test {

namespace {

std::vector<std::string> with_target(pid_t target, const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"-p", std::to_string(target), "--batch", "--json"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

} // namespace

Observer::Observer(pid_t target, const std::vector<std::string>& arguments)
    : auger_(AUGER_BINARY, with_target(target, arguments)) {}

bool Observer::read_report() {
    const std::string line = auger_.read_line();
    if (line.empty())
        return false;
    reports_.push_back(nlohmann::json::parse(line));
    return true;
}

void Observer::wait_echo(const std::string& text) {
    while (read_report()) {
        if (reports_.back()["command"] == "echo" && reports_.back()["message"] == text)
            return;
    }
    throw std::runtime_error("auger ended before it said: " + text);
}

int Observer::wait_exit() {
    while (read_report()) {
    }
    return auger_.wait_exit();
}

std::string Observer::errors() const {
    std::string lines;
    for (const nlohmann::json& report : reports_) {
        if (report.contains("error"))
            lines += report.dump() + '\n';
    }
    return lines;
}

BpfObjects Observer::kill() {
    const BpfObjects held = BpfObjects::held_by(auger_.pid());
    auger_.signal(SIGKILL);
    auger_.wait_exit();
    return held;
}

std::vector<nlohmann::json> Observer::reports(const std::string& command) const {
    std::vector<nlohmann::json> found;
    for (const nlohmann::json& report : reports_) {
        if (report["command"] == command)
            found.push_back(report);
    }
    return found;
}

} // namespace auger::test
