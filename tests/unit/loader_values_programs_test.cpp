// SPDX-License-Identifier: GPL-3.0-or-later
// Real calls of programs that say themselves what they were given: every expression that a program
// notes is compiled, carried out on the registers and the memory of the stopped program, and
// compared.
#include "tests/unit/loader_values_program.h"
#include "tests/unit/loader_values_requests.h"
#include "tests/unit/loader_values_tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace auger {
namespace {

using test::Machine;

// One that a function noted, once a call.
struct Truth {
    std::string expression;
    bool is_text = false;
    std::vector<int64_t> numbers;
    std::vector<std::string> texts;
};
using Truths = std::map<std::string, std::vector<Truth>>; // by function

Truths truths_of(const std::string& output) {
    Truths truths;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        const size_t first = line.find('\t'), second = line.find('\t', first + 1);
        if (second == line.npos)
            continue;
        auto& known = truths[line.substr(0, first)];
        const std::string expression = line.substr(first + 1, second - first - 1);
        auto at = std::find_if(known.begin(), known.end(),
                               [&](const Truth& truth) { return truth.expression == expression; });
        if (at == known.end())
            at = known.insert(known.end(), Truth{expression, false, {}, {}});
        at->is_text = line[second + 1] == 's';
        const std::string value = line.substr(second + 3);
        if (at->is_text)
            at->texts.push_back(value);
        else
            at->numbers.push_back(std::stol(value));
    }
    return truths;
}

bool is_condition(const std::string& expression) {
    return expression.find("==") != expression.npos;
}

// Also by comparing with the constant, in both ways.
void check_conditions(const Truth& truth, const std::string& constant, const ValueScope& scope,
                      const Machine& machine) {
    for (bool equal : {true, false}) {
        ProgramRequest request;
        request.conditions.only_if = truth.expression + (equal ? " == " : " != ") + constant;
        auto program = compile_program(request, scope);
        ASSERT_TRUE(program.ok()) << program.error().message();
        const wire_values values = machine.run((*program)->wire);
        EXPECT_EQ(Machine::holds((*program)->wire, values, WIRE_PREDICATE_ONLY), equal)
            << request.conditions.only_if;
    }
}

void check_condition(const Truth& truth, unsigned call, const ValueScope& scope,
                     const Machine& machine) {
    ProgramRequest request;
    request.conditions.only_if = truth.expression;
    auto program = compile_program(request, scope);
    ASSERT_TRUE(program.ok()) << truth.expression << ": " << program.error().message();
    EXPECT_EQ(Machine::holds((*program)->wire, machine.run((*program)->wire), WIRE_PREDICATE_ONLY),
              truth.numbers.at(call) != 0)
        << truth.expression;
}

// Whether it was checked: it is read now.
bool check(const Truth& truth, const test::Stop& stop, const ValueScope& scope) {
    if (is_condition(truth.expression)) {
        if (!stop.returns)
            check_condition(truth, stop.call, scope, stop.machine);
        return !stop.returns;
    }
    auto program = compile_program(test::shows({truth.expression}), scope);
    if (!program.ok()) {
        ADD_FAILURE() << scope.function << " " << truth.expression << ": "
                      << program.error().message();
        return !stop.returns;
    }
    const wire_call_program& wire = (*program)->wire;
    const uint8_t shown = (*program)->shown.at(0).value; // others are what it is computed of
    if (static_cast<bool>(wire.fetch[shown].flags & WIRE_FETCH_AT_END) != stop.returns)
        return false;
    const wire_values values = stop.machine.run(wire);
    EXPECT_EQ(values.readable, (2u << shown) - 1) << scope.function << " " << truth.expression;
    if (truth.is_text) {
        EXPECT_EQ(std::string(values.string[0]), truth.texts.at(stop.call))
            << scope.function << " " << truth.expression;
        check_conditions(truth, "\"" + truth.texts[stop.call] + "\"", scope, stop.machine);
    } else {
        EXPECT_EQ(static_cast<int64_t>(values.value[shown]), truth.numbers.at(stop.call))
            << scope.function << " " << truth.expression;
        check_conditions(truth, std::to_string(truth.numbers[stop.call]), scope, stop.machine);
    }
    return true;
}

class ValuesOf : public testing::TestWithParam<std::string> {};

TEST_P(ValuesOf, RealCallsAreWhatTheProgramSays) {
    const test::ValuesProgram program(GetParam());
    const Truths truths = truths_of(test::output_of(program.path));
    std::map<uint64_t, std::string> functions;
    std::vector<uint64_t> addresses;
    size_t expected = 0, checked = 0;
    for (const auto& [function, noted] : truths) {
        const uint64_t address = program.address_of(function);
        ASSERT_NE(address, 0u) << function;
        functions[address] = function;
        addresses.push_back(address);
        for (const Truth& truth : noted)
            expected += std::max(truth.numbers.size(), truth.texts.size());
    }
    ASSERT_GT(expected, 20u);
    auto held = program.debug->dwarf(); // not read anew for each
    ASSERT_TRUE(test::trace(program.path, addresses, [&](const test::Stop& stop) {
        const std::string& function = functions[stop.function];
        for (const Truth& truth : truths.at(function))
            checked += check(truth, stop, program.scope(function, {stop.pid}));
    }));
    EXPECT_EQ(checked, expected);
}

INSTANTIATE_TEST_SUITE_P(Programs, ValuesOf,
                         testing::Values("values_c_optimised", "values_c_plain", "values_c_dwarf4",
                                         "values_c_dwarf3", "values_c_stripped", "values_c_static",
                                         "values_c_clang0", "values_c_clang2",
                                         "values_cc_optimised", "values_cc_plain",
                                         "values_cc_dwarf4", "values_cc_dwarf3",
                                         "values_cc_stripped"),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace auger
