// SPDX-License-Identifier: GPL-3.0-or-later
// Java's methods in samples, beside what tests/programs/JavaChains.java says of its chains of
// calls; and which Java programs they run on.
#pragma once

#include "tests/kernel/python_chains.h"
#include "tests/support/javas.h"

#include <string>
#include <vector>

namespace auger::test {

// How a program is run.
struct JavaMode {
    std::string java; // the program
    std::string name;
    std::vector<std::string> options;
};

// The interpreter, either compiler and all of them, each on every Java that there is for tests.
std::vector<JavaMode> java_modes();

// 21 of "openjdk 21.0.13 2026-10-20"; 0: it does not run.
int java_version(const std::string& java);
std::string name_of(const testing::TestParamInfo<JavaMode>& info);
// Before the name of a source file: options of the mode, and those that AUGER_JAVA_OPTIONS has.
std::vector<std::string> java_options(const JavaMode& mode);

// A sample's methods, outermost first. Frames without a name, and stubs, are none, nor what Java
// does not tell of itself.
PythonStack look_at_java(Session& session, StackId stack);

} // namespace auger::test
