// SPDX-License-Identifier: GPL-3.0-or-later
// Perl's frames in samples, held against a program that knows its own chain of calls. Debian's Perl
// always, whose program has its own interpreter, and the one that is linked with the library;
// others: AUGER_PERLS=/path/to/perl5.40:/path/to/perl5.42.
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

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/perl_chains.pl";

constexpr ChainRules perl_rules = {
    ModuleKind::perl,
    "perl",
    [](const std::string&) { return false; }, // clocks are read in C
    [](const std::string&) { return true; },
    [](const std::string&) { return false; },
};

std::vector<InterpreterMode> perl_modes() {
    std::vector<InterpreterMode> modes = {{"Debian", "/usr/bin/perl", {}},
                                          {"Library", "/usr/bin/perl5.36-x86_64-linux-gnu", {}}};
    std::ranges::move(modes_of_variable("AUGER_PERLS"), std::back_inserter(modes));
    return modes;
}

class PerlFrames : public InterpreterTest {};

// Where burn() does what takes its time: the line that begins so, and the one behind it.
uint32_t line_of_loop() {
    std::ifstream source(program_source);
    std::string line;
    for (uint32_t number = 1; std::getline(source, line); number++)
        if (line.find("for my $i (1 .. 2000) {") != line.npos)
            return number;
    return 0;
}

// Of each run of ops the outermost sub: of phases where C code calls some.
const std::map<std::string, std::vector<std::string>>& entries_of_phases() {
    static const std::map<std::string, std::vector<std::string>> entries = {
        {"nested", {"(main)"}},
        {"recursion", {"(main)"}},
        {"map", {"(main)"}},
        {"first", {"(main)", "Chains::__ANON__"}},
        {"sort by a block", {"(main)", "Chains::burn"}},
        {"sort by a sub", {"(main)", "Chains::by_burning"}},
        {"sort in sort", {"(main)", "Chains::burn"}},
        {"code in a regular expression", {"(main)", "Chains::burn"}},
        {"FETCH", {"(main)", "Chains::Tied::FETCH"}},
        {"eval in FETCH", {"(main)", "Chains::Tied::FETCH"}},
        {"second eval in FETCH", {"(main)", "Chains::Tied::FETCH"}},
        {"+", {"(main)", "Chains::Number::__ANON__"}},
        {"DESTROY", {"(main)", "Chains::Number::DESTROY"}},
        {"nested callbacks", {"(main)", "Chains::__ANON__", "Chains::Deep::FETCH"}},
        {"answer of a block", {"(main)", "Chains::__ANON__"}},
        {"__WARN__", {"(main)", "Chains::__ANON__"}},
        {"signal", {"(main)", "Chains::__ANON__"}},
        {"select in sort", {"(main)", "Chains::doze"}},
        {"thread 1", {"Chains::in_thread"}},
        {"waiting thread", {"Chains::in_thread"}},
    };
    return entries;
}

// Whether around each frame of the loop that executes subs those stand, and around no other one.
bool subs_are_around_loops(Session& session, StackId stack) {
    const SymbolTables& symbols = session.model().symbols();
    const auto locations = symbols.stack(stack);
    for (size_t i = 1; i < locations.size(); i++) {
        const auto is_perl = [&](size_t at) {
            return symbols.module(symbols.location(locations[at]).module).kind == ModuleKind::perl;
        };
        if (is_perl(i) && !is_perl(i - 1) &&
            symbols.name(symbols.found_frames(locations[i - 1])[0].function) !=
                "Perl_runops_standard")
            return false;
    }
    return true;
}

TEST_P(PerlFrames, AreTheProgramsOwnChains) {
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
    EXPECT_GE(stretches.size(), 49u);
    const uint32_t loop = line_of_loop();
    uint64_t in_burn = 0, in_loop = 0, around_others = 0;
    for (const PythonStretch& stretch : stretches)
        phases[stretch.phase];
    for (const SampleEvent& sample : session.log.samples) {
        const PythonStretch* const stretch = stretch_of(session, stretches, sample);
        if (!stretch)
            continue;
        PhaseCounts& counts = phases[stretch->phase];
        const InterpretedStack seen = look_at_chain(session, sample.stack, perl_rules);
        if (stretch->phase == "deep recursion") {
            EXPECT_TRUE(seen.all.cut && seen.all.chain.size() > 240 &&
                        is_innermost_part_of_chain(seen, *stretch, perl_rules))
                << seen.all.chain.size() << "\n"
                << seen.all.text;
            continue;
        }
        const Agreement agreement = compare_chain(seen, *stretch, perl_rules);
        counts.equal += agreement == Agreement::equal;
        counts.lacking += agreement == Agreement::lacking;
        counts.wrong += agreement == Agreement::wrong;
        if (agreement == Agreement::equal) {
            if (seen.all.chain.size() == stretch->chain.size() &&
                seen.all.chain.back().function == "Chains::burn") {
                const uint32_t line = seen.all.chain.back().line;
                in_burn++;
                in_loop += line == loop || line == loop + 1;
            }
            const auto entries = entries_of_phases().find(stretch->phase);
            if (entries != entries_of_phases().end()) {
                EXPECT_EQ(seen.entries, entries->second) << stretch->phase << "\n" << seen.all.text;
            }
            around_others += !subs_are_around_loops(session, sample.stack);
        } else if (wrong.size() < 8) {
            wrong.push_back(difference_from(seen, *stretch, sample, agreement));
        }
    }
    PhaseCounts total;
    for (const auto& [phase, counts] : phases) {
        if (phase == "deep recursion")
            continue;
        fmt::print("{}: {} equal, {} lacking, {} wrong\n", phase, counts.equal, counts.lacking,
                   counts.wrong);
        EXPECT_GE(counts.all(), 20u) << phase;
        EXPECT_EQ(counts.wrong, 0u) << phase;
        total.equal += counts.equal;
        total.lacking += counts.lacking;
        total.wrong += counts.wrong;
    }
    for (const auto& [phase, entries] : entries_of_phases())
        EXPECT_TRUE(phases.contains(phase)) << phase;
    EXPECT_GE(total.equal * 100, total.all() * 99) << total.lacking << " lack frames";
    EXPECT_EQ(around_others, 0u);
    // The statement in the loop is the first one of its block, for which Perl executes none.
    fmt::print("burning: {} of {} samples are in the loop\n", in_loop, in_burn);
    EXPECT_GE(in_loop * 100, in_burn * 95);
    EXPECT_GT(in_burn, 500u);
    if (HasFailure())
        fmt::print("{}\n", fmt::join(wrong, "\n"));
    // Between the phases texts and files are compiled, executed and freed, and threads end.
    uint64_t lost = 0;
    for (const char* cause : {"unreadable", "gone before it was read"})
        lost += session.lost(fmt::format("Perl frames without a name: {}", cause));
    EXPECT_LT(lost * 50, session.log.samples.size());
    EXPECT_EQ(session.lost("Perl frames without a name: memory that could not be read in time"),
              0u);
}

// What a module's C code calls is timed, and its callers are Perl's subs.
TEST_P(PerlFrames, AreTheCallersOfSlowCalls) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    Program program(GetParam().program, arguments({program_source, path}));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    session.time("libc:clock_nanosleep", {Threshold::Kind::fixed, 1, 0});
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));

    const auto stretches = read_python_stretches(path);
    PhaseCounts sleeps;
    for (const SlowCall& call : session.model().slow_calls()) {
        const auto stretch = std::ranges::find_if(stretches, [&](const PythonStretch& one) {
            return one.phase == "usleep" && one.begin_ns <= call.end.call.start_ns &&
                   call.end.time_ns <= one.end_ns;
        });
        if (stretch == stretches.end())
            continue;
        const InterpretedStack seen = look_at_chain(session, call.stack, perl_rules);
        const Agreement agreement = compare_chain(seen, *stretch, perl_rules);
        sleeps.equal += agreement == Agreement::equal;
        sleeps.lacking += agreement == Agreement::lacking;
        EXPECT_NE(agreement, Agreement::wrong) << seen.all.text;
    }
    EXPECT_EQ(sleeps.all(), 40u);
    EXPECT_EQ(sleeps.equal, 40u);
}

INSTANTIATE_TEST_SUITE_P(Modes, PerlFrames, testing::ValuesIn(perl_modes()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
