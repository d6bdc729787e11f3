// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/java_chains.h"

#include "tests/support/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace auger::test {
namespace {

// How Java gets to a lambda's method, to one by reflection, and to what a thread runs.
bool is_hidden(std::string_view function) {
    constexpr std::array<std::string_view, 3> others = {
        "java.lang.Thread.runWith",
        "java.lang.VirtualThread.runWith",
        "jdk.internal.reflect.DirectMethodHandleAccessor.invokeImpl",
    };
    return function.find("$$Lambda") != function.npos ||
           function.starts_with("java.lang.invoke.") ||
           std::ranges::find(others, function) != others.end();
}

// Between calls compiled code tells of each instruction whose it is only when it is asked to. Even
// then a loop that the second compiler has changed counts for the method that it is inlined into,
// and a call of the C library's for one that is inlined behind it.
std::vector<std::string> with_outer_loops(std::vector<std::string> options) {
    options.push_back("-XX:CompileCommand=quiet"); // before the others
    for (const char* program : {"JavaChains", "VirtualChains"})
        for (const char* method : {"burn", "doze", "call", "chain", "line", "cpu", "tell"})
            options.push_back(fmt::format("-XX:CompileCommand=dontinline,{}.{}", program, method));
    options.insert(options.end(), {"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"});
    return options;
}

} // namespace

int java_version(const std::string& java) {
    if (!std::filesystem::exists(java))
        return 0;
    const std::string said = run({java, "--version"}).out;
    const size_t number = said.find_first_of("0123456789");
    return number == said.npos ? 0 : std::atoi(said.c_str() + number);
}

std::vector<JavaMode> java_modes() {
    std::vector<JavaMode> modes;
    for (const std::string& java : javas()) {
        modes.push_back({java, "Interpreter", {"-Xint"}});
        modes.push_back({java, "FirstCompiler", with_outer_loops({"-XX:TieredStopAtLevel=1"})});
        modes.push_back({java, "SecondCompiler", with_outer_loops({"-XX:-TieredCompilation"})});
        modes.push_back({java, "AsItComes", with_outer_loops({})});
    }
    return modes;
}

std::string name_of(const testing::TestParamInfo<JavaMode>& info) {
    const auto all = javas();
    const auto number = std::ranges::find(all, info.param.java) - all.begin();
    return number == 0 ? info.param.name : fmt::format("{}{}", info.param.name, number + 1);
}

std::vector<std::string> java_options(const JavaMode& mode) {
    std::vector<std::string> options = mode.options;
    const char* const more = std::getenv("AUGER_JAVA_OPTIONS");
    std::istringstream words(more ? more : "");
    for (std::string word; words >> word;)
        options.push_back(word);
    return options;
}

PythonStack look_at_java(Session& session, StackId stack) {
    const SymbolTables& symbols = session.model().symbols();
    PythonStack seen;
    const auto locations = symbols.stack(stack);
    for (size_t i = locations.size(); i-- > 0;) {
        const auto kind = symbols.module(symbols.location(locations[i]).module).kind;
        const auto frames = symbols.found_frames(locations[i]);
        for (size_t k = frames.size(); k-- > 0;) {
            const std::string name(symbols.name(frames[k].function));
            const std::string file(symbols.text(frames[k].file));
            seen.text += fmt::format("  {} {}:{}\n", name, file, frames[k].line);
            seen.cut |= name.starts_with("[stack cut") || name.starts_with("[java: ");
            if (kind == ModuleKind::java && !name.starts_with('[') && !is_hidden(name))
                seen.chain.push_back({name, file, frames[k].line});
        }
    }
    return seen;
}

} // namespace auger::test
