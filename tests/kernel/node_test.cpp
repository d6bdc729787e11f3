// SPDX-License-Identifier: GPL-3.0-or-later
// V8's frames in samples, held against a program that knows its own chain of calls: in the
// interpreter, in code of either compiler, and as it comes.
#include "bpf/unwind_table.h"
#include "loader/kernel/v8_names.h"
#include "tests/kernel/program.h"
#include "tests/kernel/python_chains.h"
#include "tests/support/run.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace auger::test {
namespace {

using std::chrono::seconds;

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/node_chains.js";

// Which is installed; another one by AUGER_NODE.
std::string node() {
    const char* const other = std::getenv("AUGER_NODE");
    return other ? other : "/usr/bin/node";
}

// By a shell: AUGER_NODE may be a script.
Outcome run_node(const std::string& arguments) {
    return run({"/bin/sh", "-c", node() + " " + arguments});
}

// One of a compiler that this version does not have: Node 18 has no Maglev.
bool is_unknown_option(const std::string& option) {
    return run_node(option + " -e 0").err.find("bad option") != std::string::npos;
}

// Debian's node is a library without a symbol table, so nobody knows which bytecode runs that has
// not called anything (docs/limits.md).
bool shows_bytecodes() {
    return run_node("-p process.config.variables.node_shared").out.find("true") ==
           std::string::npos;
}

// Not since V8 13, in Node 24 (docs/limits.md).
bool tells_what_is_inlined() {
    return std::atoi(run_node("-p process.versions.v8").out.c_str()) < 13;
}

struct Mode {
    std::string name;
    std::vector<std::string> options;
    // A function of the baseline compiler's code is shown by where it begins.
    bool has_lines = false;
    bool is_interpreted = false;
};

struct NodeStretch : PythonStretch {
    std::vector<uint32_t> begins; // the lines of the chain's functions
    uint32_t busy = 0;            // where the innermost one is most of the time; 0: it does not say
};

std::vector<NodeStretch> read_node_stretches(const std::string& path) {
    std::vector<NodeStretch> stretches;
    for (PythonStretch& stretch : read_python_stretches(path))
        stretches.push_back({std::move(stretch), {}, 0});
    std::ifstream file(path);
    size_t i = 0;
    for (std::string line; i < stretches.size() && std::getline(file, line); i++) {
        const auto told = nlohmann::json::parse(line);
        stretches[i].begins = told["begins"].get<std::vector<uint32_t>>();
        stretches[i].busy = told.value("busy", 0u);
    }
    return stretches;
}

// A sample's JavaScript, outermost first.
PythonStack look_at_node(Session& session, StackId stack) {
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
            seen.cut |= name.starts_with("[stack cut") || name.starts_with("[javascript: ");
            if (kind == ModuleKind::js && !name.starts_with('['))
                seen.chain.push_back({name, file, frames[k].line});
        }
    }
    return seen;
}

// V8 13 tells of a nameless function where its word `function` is, older ones, and names, where its
// parameters begin.
bool is_name(const std::string& seen, const std::string& truth) {
    const size_t column = truth.rfind(':') + 1;
    if (!truth.starts_with("anonymous:") || seen == truth)
        return seen == truth;
    return seen == truth.substr(0, column) +
                       std::to_string(std::stoul(truth.substr(column)) + strlen("function"));
}

bool is_line(const Mode& mode, uint32_t line, uint32_t begin, uint32_t first, uint32_t last) {
    return (line >= first && line <= last) || (!mode.has_lines && line == begin);
}

// Whether what is seen is the chain without some of its functions, or with some of `inner`.
bool is_part(const Mode& mode, const PythonStack& seen, const NodeStretch& truth) {
    size_t at = 0;
    for (const PythonFrame& frame : truth.chain) {
        const bool innermost = &frame == &truth.chain.back();
        const uint32_t begin = truth.begins[static_cast<size_t>(&frame - truth.chain.data())];
        if (at < seen.chain.size() && is_name(seen.chain[at].function, frame.function) &&
            seen.chain[at].file == frame.file &&
            is_line(mode, seen.chain[at].line, begin, innermost ? truth.first_line : frame.line,
                    innermost ? truth.last_line : frame.line))
            at++;
    }
    std::vector<std::string> inner = truth.inner;
    inner.push_back("hrtimeBigInt"); // in each phase it looks at the clock
    for (const std::string& function : inner)
        at += at < seen.chain.size() && seen.chain[at].function == function;
    return at == seen.chain.size();
}

Agreement compare_node(const Mode& mode, const PythonStack& seen, const NodeStretch& truth) {
    if (!is_part(mode, seen, truth))
        return Agreement::wrong;
    const bool whole =
        seen.chain.size() >= truth.chain.size() &&
        is_name(seen.chain[truth.chain.size() - 1].function, truth.chain.back().function);
    return whole && !seen.cut ? Agreement::equal : Agreement::lacking;
}

class NodeFrames : public KernelTest, public testing::WithParamInterface<Mode> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (access(node().c_str(), X_OK) != 0)
            GTEST_SKIP() << node() << " is not installed";
    }
};

TEST_P(NodeFrames, AreTheProgramsOwnChains) {
    Mode mode = GetParam();
    if (!shows_bytecodes())
        mode.has_lines = mode.is_interpreted = false;
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    std::vector<std::string> arguments = mode.options;
    std::erase_if(arguments, is_unknown_option);
    arguments.insert(arguments.end(), {program_source, path});
    Program program(node(), arguments);
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    must(session.backend().set_sampling({.rate_hz = 999, .wall = true}));
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    must(session.backend().set_sampling({}));
    // Until all is delivered: its names go with it.
    ASSERT_TRUE(session.pump_until([&, before = size_t{0}]() mutable {
        return session.log.samples.size() == std::exchange(before, session.log.samples.size());
    }));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));

    std::vector<std::string> others;
    std::map<std::string, PhaseCounts> phases;
    // Of functions that say where they are most of the time: samples by line, from there.
    std::map<int64_t, size_t> lines;
    const auto stretches = read_node_stretches(path);
    constexpr size_t count = 24;
    for (const SampleEvent& sample : session.log.samples) {
        const ThreadInfo& thread = session.model().symbols().thread(sample.thread);
        if (thread.tid != static_cast<uint32_t>(program.pid()))
            continue;
        const auto stretch = std::ranges::find_if(stretches, [&](const NodeStretch& one) {
            return one.begin_ns <= sample.time_ns && sample.time_ns <= one.end_ns;
        });
        if (stretch == stretches.end())
            continue;
        PhaseCounts& counts = phases[stretch->phase];
        const PythonStack seen = look_at_node(session, sample.stack);
        const Agreement agreement = compare_node(mode, seen, *stretch);
        counts.equal += agreement == Agreement::equal;
        counts.lacking += agreement == Agreement::lacking;
        counts.wrong += agreement == Agreement::wrong;
        if (stretch->busy && agreement == Agreement::equal &&
            seen.chain.size() == stretch->chain.size()) {
            lines[int64_t{seen.chain.back().line} - stretch->busy]++;
        }
        if (agreement == Agreement::equal || others.size() >= 8)
            continue;
        std::string chain;
        for (const PythonFrame& frame : stretch->chain)
            chain += fmt::format("  {} {}:{}\n", frame.function, frame.file, frame.line);
        others.push_back(
            fmt::format("{}{}: {} ms after its begin, kind {}:\n{}but the chain was\n{}",
                        stretch->phase, agreement == Agreement::wrong ? "" : " (lacking)",
                        (sample.time_ns - stretch->begin_ns) / 1e6, static_cast<int>(sample.kind),
                        seen.text, chain));
    }
    const bool tells_inlined = tells_what_is_inlined();
    PhaseCounts total;
    EXPECT_EQ(phases.size(), count);
    for (const auto& [phase, counts] : phases) {
        fmt::print("{}: {} equal, {} lacking, {} wrong\n", phase, counts.equal, counts.lacking,
                   counts.wrong);
        EXPECT_GE(counts.all(), 10u) << phase;
        EXPECT_EQ(counts.wrong, 0u) << phase;
        if (!tells_inlined && phase.ends_with(" warm"))
            continue;
        total.equal += counts.equal;
        total.lacking += counts.lacking;
        total.wrong += counts.wrong;
    }
    EXPECT_GE(total.equal * 100, total.all() * 99) << total.lacking << " lack frames";
    fmt::print("by line: {}\n", lines);
    // What is in frames of the interpreter's is where they have last called: behind the loop. Half
    // of the loop's bytecodes are of the line that is told.
    if (mode.is_interpreted) {
        size_t innermost = 0;
        for (const auto& [line, samples] : lines)
            innermost += samples;
        EXPECT_GE(lines[0] * 4, innermost);
        EXPECT_GE((lines[0] + lines[-1]) * 20, innermost * 19);
    }
    if (HasFailure())
        fmt::print("{}\n", fmt::join(others, "\n"));
    for (const char* cause : {"unreadable", "memory that could not be read in time"})
        EXPECT_EQ(session.lost(fmt::format("JavaScript frames without a name: {}", cause)), 0u);
}

// In our own memory, where a function and all that it leads to is one object.
TEST(V8NamesTest, FramesWithoutNamesAreCountedByCause) {
    V8Names names;
    const auto text = [&](uint64_t first, uint64_t second) {
        return names.names(getpid(), {first, second}).at(0).frame.function;
    };
    // All that it has are numbers, so it has no name, no script and no place. It is its own Map.
    alignas(8) static uint64_t object[64] = {};
    const uint64_t pointer = reinterpret_cast<uint64_t>(object) + WIRE_V8_TAG;
    object[0] = pointer;
    V8Layout layout{};
    layout.walk.shared_type = static_cast<uint16_t>(pointer);
    for (uint32_t* const offset :
         {&layout.walk.shared_data, &layout.walk.shared_name, &layout.walk.shared_script,
          &layout.walk.shared_literal, &layout.walk.shared_unique})
        *offset = sizeof pointer;
    const uint64_t function = WIRE_FRAME_V8 | pointer;
    const uint64_t second = uint64_t{WIRE_V8_COMPILED} << 32 | wire_v8_cookie(0, 0, 0, 0);
    EXPECT_EQ(text(function, second), "[javascript: unreadable]"); // of no process that is known
    names.set_layout(getpid(), 0, std::make_shared<const V8Layout>(layout));
    EXPECT_EQ(text(function, second ^ 1), "[javascript: gone before its name was read]");
    EXPECT_EQ(text(WIRE_FRAME_V8 | 9, second), "[javascript: unreadable]");
    EXPECT_THAT(names.missing(), testing::ElementsAre(2u, 1u, 0u));
    EXPECT_EQ(names.memory_bytes(), 0u);
    EXPECT_EQ(text(function, second), "anonymous");
    EXPECT_GT(names.memory_bytes(), 0u);
    names.end(getpid());
    EXPECT_EQ(text(function, second), "anonymous");
    EXPECT_EQ(text(function, second ^ 1), "[javascript: gone before its name was read]");
}

INSTANTIATE_TEST_SUITE_P(
    Modes, NodeFrames,
    testing::Values(Mode{"Interpreter", {"--no-opt", "--no-sparkplug"}, true, true},
                    Mode{"FirstCompiler", {"--no-opt", "--always-sparkplug"}, false},
                    Mode{"SecondCompiler", {"--no-turbo-inlining", "--no-maglev-inlining"}, false},
                    Mode{"AsItComes", {}, false}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
