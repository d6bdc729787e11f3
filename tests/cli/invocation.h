// SPDX-License-Identifier: GPL-3.0-or-later
// auger as a script calls it. Whatever happens, no BPF program and no link may be left behind.
#pragma once

#include "tests/support/run.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace auger::test {

// Runs auger with these arguments to its end. Fails the test when it leaves something behind.
Outcome auger(std::vector<std::string> arguments, const Surroundings& surroundings = {});

// What was said, but for notices of what observing takes: that is as much as the machine makes it.
std::string without_overhead(const std::string& said);

// One object a line; throws (failing the test) when a line is none.
std::vector<nlohmann::json> json_lines(const std::string& text);
// The first of them that answers the command; notices may stand before it.
nlohmann::json answer_to(const std::string& command, const std::string& text);

// Places where auger may find itself, for Surroundings::prepare.
bool become_nobody();
// Takes what is in `folder` out of sight, in a mount namespace of auger's own.
bool hide(const char* folder);
// bpf(BPF_RAW_TRACEPOINT_OPEN) answers as it does where the kernel has no such tracepoint.
bool without_tracepoints();

} // namespace auger::test
