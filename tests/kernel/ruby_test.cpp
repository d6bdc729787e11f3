// SPDX-License-Identifier: GPL-3.0-or-later
// Ruby's frames in samples, held against a program that knows its own chain of calls. Debian's Ruby
// always; others: AUGER_RUBIES=/path/to/ruby3.0:/path/to/ruby3.3.
#include "tests/kernel/interpreted_chains.h"
#include "tests/kernel/program.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace auger::test {
namespace {

using std::chrono::seconds;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/ruby_chains.rb";

// Its first frame is a C function's, which no native frame of the loop has called.
bool begins_in_c(const std::string& phase) {
    return phase == "Enumerator#next";
}

bool is_of_fiber(const std::string& phase) {
    return phase == "fiber" || phase == "resumed fiber" || begins_in_c(phase);
}

constexpr ChainRules ruby_rules = {
    ModuleKind::ruby,
    "ruby",
    [](const std::string& function) { return function == "Process.clock_gettime"; },
    [](const std::string& phase) { return !begins_in_c(phase); },
    is_of_fiber, // its native stack ends where it begins
};

std::vector<InterpreterMode> ruby_modes() {
    std::vector<InterpreterMode> modes = {{"Debian", "/usr/bin/ruby3.1", {}}};
    std::ranges::move(modes_of_variable("AUGER_RUBIES"), std::back_inserter(modes));
    return modes;
}

class RubyFrames : public InterpreterTest {};

// Where burn() does what takes its time: the line that begins so, and the two behind it.
uint32_t line_of_loop() {
    std::ifstream source(program_source);
    std::string line;
    for (uint32_t number = 1; std::getline(source, line); number++)
        if (line.find("while i < 5000") != line.npos)
            return number;
    return 0;
}

TEST_P(RubyFrames, AreTheProgramsOwnChains) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    Program program(GetParam().program, arguments({program_source, path}));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    must(session.backend().set_sampling({.rate_hz = 999, .wall = true}));
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    must(session.backend().set_sampling({}));
    await_samples(session);
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));

    std::vector<std::string> wrong;
    std::map<std::string, PhaseCounts> phases;
    const auto stretches = read_python_stretches(path);
    EXPECT_GE(stretches.size(), 55u);
    const uint32_t loop = line_of_loop();
    uint64_t in_burn = 0, in_loop = 0;
    for (const PythonStretch& stretch : stretches)
        phases[stretch.phase];
    for (const SampleEvent& sample : session.log.samples) {
        const PythonStretch* const stretch = stretch_of(session, stretches, sample);
        if (!stretch)
            continue;
        PhaseCounts& counts = phases[stretch->phase];
        const InterpretedStack seen = look_at_chain(session, sample.stack, ruby_rules);
        if (stretch->phase == "deep recursion") {
            EXPECT_TRUE(seen.all.cut && seen.all.chain.size() > 450 &&
                        is_innermost_part_of_chain(seen, *stretch, ruby_rules))
                << seen.all.chain.size() << "\n"
                << seen.all.text;
            continue;
        }
        const Agreement agreement = compare_chain(seen, *stretch, ruby_rules);
        counts.equal += agreement == Agreement::equal;
        counts.lacking += agreement == Agreement::lacking;
        counts.wrong += agreement == Agreement::wrong;
        if (agreement == Agreement::equal && seen.all.chain.size() == stretch->chain.size() &&
            seen.all.chain.back().function == "Chains.burn") {
            const uint32_t line = seen.all.chain.back().line;
            in_burn++;
            in_loop += line >= loop && line <= loop + 2;
        }
        if (agreement == Agreement::equal && stretch->phase == "nested callbacks") {
            EXPECT_THAT(seen.entries, ElementsAre("<main>", "block in Chains.callbacks",
                                                  "block (2 levels) in Chains.callbacks",
                                                  "block (3 levels) in Chains.callbacks"))
                << seen.all.text;
        }
        if (agreement == Agreement::equal && begins_in_c(stretch->phase)) {
            EXPECT_THAT(seen.entries, ElementsAre("(nobody)", "block in Chains.fibers"))
                << seen.all.text;
        }
        // Whichever moment it is: each run stands where it is.
        if (agreement == Agreement::equal && stretch->phase.ends_with(" from C")) {
            EXPECT_THAT(seen.entries, AnyOf(ElementsAre("<main>"),
                                            ElementsAre("<main>", HasSubstr("block in Chains."))))
                << seen.all.text;
        }
        if (agreement != Agreement::equal && wrong.size() < 8)
            wrong.push_back(difference_from(seen, *stretch, sample, agreement));
    }
    PhaseCounts total;
    for (const auto& [phase, counts] : phases) {
        if (phase == "deep recursion")
            continue;
        fmt::print("{}: {} equal, {} lacking, {} wrong\n", phase, counts.equal, counts.lacking,
                   counts.wrong);
        // It waits twice.
        EXPECT_GE(counts.all(), phase == "join" ? 1u : 20u) << phase;
        EXPECT_EQ(counts.wrong, 0u) << phase;
        total.equal += counts.equal;
        total.lacking += counts.lacking;
        total.wrong += counts.wrong;
    }
    EXPECT_GE(total.equal * 100, total.all() * 99) << total.lacking << " lack frames";
    fmt::print("burning: {} of {} samples are in the loop\n", in_loop, in_burn);
    EXPECT_GE(in_loop * 100, in_burn * 95);
    EXPECT_GT(in_burn, 1000u);
    if (HasFailure())
        fmt::print("{}\n", fmt::join(wrong, "\n"));
    // Where it has much else to do, the loader comes to read a function that is gone.
    uint64_t lost = 0;
    for (const char* cause :
         {"unreadable", "gone before it was read", "memory that could not be read in time"})
        lost += session.lost(fmt::format("Ruby frames without a name: {}", cause));
    EXPECT_LT(lost * 50, total.all());
}

// What Ruby calls in C is timed, and its callers are Ruby's methods.
TEST_P(RubyFrames, AreTheCallersOfSlowCalls) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    Program program(GetParam().program, arguments({program_source, path}));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    session.time("libc:select", {Threshold::Kind::fixed, 1, 0});
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));

    const auto stretches = read_python_stretches(path);
    PhaseCounts waits;
    for (const SlowCall& call : session.model().slow_calls()) {
        const auto stretch = std::ranges::find_if(stretches, [&](const PythonStretch& one) {
            return one.phase == "IO.select" && one.begin_ns <= call.end.call.start_ns &&
                   call.end.time_ns <= one.end_ns;
        });
        if (stretch == stretches.end())
            continue;
        const InterpretedStack seen = look_at_chain(session, call.stack, ruby_rules);
        const Agreement agreement = compare_chain(seen, *stretch, ruby_rules);
        waits.equal += agreement == Agreement::equal;
        waits.lacking += agreement == Agreement::lacking;
        EXPECT_NE(agreement, Agreement::wrong) << seen.all.text;
    }
    EXPECT_EQ(waits.all(), 40u);
    EXPECT_EQ(waits.equal, 40u);
}

INSTANTIATE_TEST_SUITE_P(Modes, RubyFrames, testing::ValuesIn(ruby_modes()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
