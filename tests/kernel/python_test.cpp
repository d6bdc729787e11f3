// SPDX-License-Identifier: GPL-3.0-or-later
// Frames of Python, held against what the interpreter itself says of its stack: in the chains of
// tests/programs/python_chains.py every sample has all of them, in order, and each in its place
// between native frames.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <fmt/ranges.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using nlohmann::json;

struct Line {
    std::string function, file;
    uint32_t line;
    friend bool operator==(const Line&, const Line&) = default;
};

// Of the innermost frame the line is not compared: it goes on.
std::vector<Line> chain_of(const json& episode) {
    std::vector<Line> chain;
    for (const json& frame : episode["chain"])
        chain.push_back({frame[0], frame[1], frame[2]});
    chain.back().line = 0;
    return chain;
}

struct Seen {
    std::vector<Line> chain; // outermost first
    bool in_place = true;    // each piece is around the native frame that runs it
    bool cut = false;
};

Seen seen_of(const Model& model, StackId stack) {
    const SymbolTables& symbols = model.symbols();
    Seen seen;
    bool after_python = false;
    const auto locations = symbols.stack(stack);
    for (size_t i = locations.size(); i-- > 0;) {
        const ModuleKind kind = symbols.module(symbols.location(locations[i]).module).kind;
        seen.cut |= kind == ModuleKind::cut;
        const FrameEntry& frame = symbols.found_frames(locations[i]).back();
        const std::string name(symbols.name(frame.function));
        // Python's own interpreter is what a frame of it is followed by, unless by another one.
        if (after_python && kind != ModuleKind::python)
            seen.in_place &=
                name.starts_with("_PyEval_EvalFrameDefault") || name.find('+') != name.npos;
        after_python = kind == ModuleKind::python;
        if (after_python)
            seen.chain.push_back({name, std::string(symbols.text(frame.file)), frame.line});
    }
    seen.in_place &= !after_python;
    if (!seen.chain.empty())
        seen.chain.back().line = 0;
    return seen;
}

class Python : public KernelTest {};

TEST_F(Python, ChainsAreThoseOfTheInterpreter) {
    TemporaryFolder folder;
    const std::string account = folder.path("account");
    Program program("python_chains", {account});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_sampling({499, true}));
    program.go();
    session.pump_to_end();
    ASSERT_EQ(program.wait_exit(), 0);
    const json episodes = json::parse(std::ifstream(account));
    std::map<std::string, size_t> right, all;
    const Model& model = session.model();
    for (size_t i = 0; i < model.samples().size(); i++) {
        const uint64_t time = model.samples().times()[i];
        const ThreadInfo& thread = model.symbols().thread(model.samples().threads()[i]);
        for (const json& episode : episodes) {
            if (episode["tid"] != thread.tid || time < episode["begin"].get<uint64_t>() ||
                time > episode["end"].get<uint64_t>())
                continue;
            const std::string name = episode["name"];
            const Seen seen = seen_of(model, model.samples().stacks()[i]);
            all[name]++;
            right[name] += seen.chain == chain_of(episode) && seen.in_place && !seen.cut;
            if (!seen.cut && seen.chain != chain_of(episode))
                ADD_FAILURE() << name << ": "
                              << fmt::format("{}", fmt::join(session.stack_names(
                                                                 model.samples().stacks()[i]),
                                                             "; "));
            else if (!seen.in_place)
                ADD_FAILURE() << name << ", out of place: "
                              << fmt::format("{}", fmt::join(session.stack_names(
                                                                 model.samples().stacks()[i]),
                                                             "; "));
        }
    }
    for (const char* name :
         {"nested", "recursion", "sorted", "reduce", "ctypes", "generator", "coroutine", "closure",
          "exception", "comprehension", "exec", "wait", "thread"}) {
        SCOPED_TRACE(name);
        EXPECT_GE(all[name], 20u);
        EXPECT_GE(right[name], 0.99 * all[name]);
    }
    for (const char* cause :
         {"unreadable", "gone before it was read", "memory that could not be read in time"})
        EXPECT_EQ(session.lost(fmt::format("Python frames without a name: {}", cause)), 0u);
}

} // namespace
} // namespace auger::test
