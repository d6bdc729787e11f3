// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of which nothing is known but the calling convention, and what holds in them.
#pragma once

#include "loader/reader/values/compile_program.h"
#include "tests/unit/loader_values_machine.h"
#include "tests/unit/loader_values_requests.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace auger::test {

inline CallProgram compiled(const ProgramRequest& request, const ValueScope& scope = {"f"}) {
    auto program = compile_program(request, scope);
    EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message());
    return program.ok() && *program ? **program : CallProgram();
}

// The marked part of a text that does not compile, and the reason.
inline std::string complaint(const Result<std::optional<CallProgram>>& result) {
    if (result.ok())
        return "compiled";
    const Error& error = result.error();
    if (!error.at || error.at->offset + error.at->length > error.subject.size())
        return "not placed: " + error.message();
    return error.subject.substr(error.at->offset, error.at->length) + ": " + error.cause;
}
inline std::string complaint_of(const std::string& predicate) {
    return complaint(compile_program(only_if(predicate), {"f"}));
}

// arg0 to arg5 and what is on the stack behind them.
inline Machine call_with(const std::vector<uint64_t>& arguments, const Memory& memory = {}) {
    Machine machine;
    constexpr int registers[] = {5, 4, 1, 2, 8, 9};
    Memory all = memory;
    machine.frame_address = 0x7000;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (i < 6)
            machine.at_entry[registers[i]] = arguments[i];
        else
            all.put(machine.frame_address + 8 * (i - 6), arguments[i]);
    }
    machine.read = [all](uint64_t at, void* to, size_t size) { return all.read(at, to, size); };
    return machine;
}

inline bool holds_in(const std::string& predicate, const Machine& machine) {
    const CallProgram program = compiled(only_if(predicate));
    return Machine::holds(program.wire, machine.run(program.wire), WIRE_PREDICATE_ONLY)
        .value_or(false);
}
inline bool holds(const std::string& predicate, const std::vector<uint64_t>& arguments) {
    return holds_in(predicate, call_with(arguments));
}

} // namespace auger::test
