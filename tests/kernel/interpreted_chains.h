// SPDX-License-Identifier: GPL-3.0-or-later
// What samples say of chains of calls in an interpreter's language, held against programs that know
// theirs, as tests/programs/php_chains.php does.
#pragma once

#include "tests/kernel/python_chains.h"

#include <filesystem>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace auger::test {

// An interpreter, and how it is started.
struct InterpreterMode {
    std::string name, program;
    std::vector<std::string> options;
    friend void PrintTo(const InterpreterMode& mode, std::ostream* to) { *to << mode.name; }
};

// Those that the variable names, separated by colons.
std::vector<InterpreterMode> modes_of_variable(const char* variable);

// A sample's stack.
struct InterpretedStack {
    PythonStack all;
    // Of each run of the interpreter's loop the outermost function; "(nobody)" of frames that no
    // native one runs.
    std::vector<std::string> entries;
};

// What is the language's.
struct ChainRules {
    ModuleKind kind;
    std::string_view label; // of frames without a name: "[php: unreadable]"
    bool (*reads_clock)(const std::string& function);
    // Of the phase: whether each native frame of the loop is known to be the one that runs what
    // stands behind it; whether a stack is whole that says it is cut.
    bool (*has_places)(const std::string& phase);
    bool (*ends_early)(const std::string& phase);
};

InterpretedStack look_at_chain(Session& session, StackId stack, const ChainRules& rules);
Agreement compare_chain(const InterpretedStack& seen, const PythonStretch& truth,
                        const ChainRules& rules);
// But for clocks that are read.
bool is_innermost_part_of_chain(InterpretedStack seen, const PythonStretch& truth,
                                const ChainRules& rules);
// A sample that does not agree, and what should have been there.
std::string difference_from(const InterpretedStack& seen, const PythonStretch& truth,
                            const SampleEvent& sample, Agreement agreement);
// The stretch in which a sample was taken; null: none.
const PythonStretch* stretch_of(Session& session, const std::vector<PythonStretch>& stretches,
                                const SampleEvent& sample);

class InterpreterTest : public KernelTest, public testing::WithParamInterface<InterpreterMode> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(GetParam().program))
            GTEST_SKIP() << GetParam().program << " is not installed";
    }
    static std::vector<std::string> arguments(std::initializer_list<std::string> more) {
        std::vector<std::string> all = GetParam().options;
        all.insert(all.end(), more);
        return all;
    }
    // Until a table is there, stacks through its module are cut, and the language's frames are not
    // known.
    static void await_tables(Session& session);
    // Until all is delivered.
    static void await_samples(Session& session);
};

} // namespace auger::test
