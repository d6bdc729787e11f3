// SPDX-License-Identifier: GPL-3.0-or-later
// PHP's frames in samples, held against a program that knows its own chain of calls. Debian's PHP
// always; others: AUGER_PHPS=/path/to/php7.4:/path/to/php8.4.
#include "tests/kernel/php_chains.h"
#include "tests/kernel/program.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace auger::test {
namespace {

using std::chrono::seconds;

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/php_chains.php";

class PhpFrames : public PhpTest {};

// Where burn() does what takes its time: the line that begins so, and the one behind it.
uint32_t line_of_loop() {
    std::ifstream source(program_source);
    std::string line;
    for (uint32_t number = 1; std::getline(source, line); number++)
        if (line.find("for ($i = 0; $i < 5000; $i++)") != line.npos)
            return number;
    return 0;
}

// Whether the sample was taken where no memory that PHP's frames are read from need be there: while
// a page is copied for one of the two after a fork, and in a child until it comes back to PHP.
bool is_memory_away(const PhpStack& seen, bool in_child) {
    const auto is_in = [&](const char* function) {
        return seen.all.text.find(function) != std::string::npos;
    };
    return is_in("page_fault") || is_in("ret_from_fork") || (in_child && is_in("arch_fork"));
}

TEST_P(PhpFrames, AreTheProgramsOwnChains) {
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
    EXPECT_GE(stretches.size(), 34u);
    const uint32_t loop = line_of_loop();
    uint64_t in_burn = 0, in_loop = 0, away = 0;
    std::vector<std::string> unreadable;
    for (const PythonStretch& stretch : stretches)
        phases[stretch.phase];
    for (const SampleEvent& sample : session.log.samples) {
        const PhpStack seen = look_at_php(session, sample.stack);
        if (seen.all.text.find("[php: unreadable]") != std::string::npos) {
            const auto pid = session.model().symbols().thread(sample.thread).pid;
            away += is_memory_away(seen, pid != static_cast<uint32_t>(program.pid()));
            unreadable.push_back(seen.all.text);
        }
        const PythonStretch* const stretch = stretch_of(session, stretches, sample);
        if (!stretch)
            continue;
        PhaseCounts& counts = phases[stretch->phase];
        if (stretch->phase == "deep recursion") {
            EXPECT_TRUE(seen.all.cut && seen.all.chain.size() > 450 &&
                        is_innermost_part_of_php(seen, *stretch))
                << seen.all.chain.size() << "\n"
                << seen.all.text;
            continue;
        }
        const Agreement agreement = compare_php(seen, *stretch);
        counts.equal += agreement == Agreement::equal;
        counts.lacking += agreement == Agreement::lacking;
        counts.wrong += agreement == Agreement::wrong;
        if (agreement == Agreement::equal && seen.all.chain.size() == stretch->chain.size() &&
            seen.all.chain.back().function == "Chains\\burn") {
            const uint32_t line = seen.all.chain.back().line;
            in_burn++;
            in_loop += line == loop || line == loop + 1;
        }
        if (stretch->phase == "nested callbacks" && agreement == Agreement::equal) {
            EXPECT_EQ(seen.entries.size(), 4u) << seen.all.text;
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
        EXPECT_GE(counts.all(), 20u) << phase;
        EXPECT_EQ(counts.wrong, 0u) << phase;
        total.equal += counts.equal;
        total.lacking += counts.lacking;
        total.wrong += counts.wrong;
    }
    EXPECT_GE(total.equal * 100, total.all() * 99) << total.lacking << " lack frames";
    // What is saved in memory is the line of the call before the loop.
    fmt::print("burning: {} of {} samples are in the loop\n", in_loop, in_burn);
    EXPECT_GE(in_loop * 100, in_burn * 95);
    EXPECT_GT(in_burn, 500u);
    if (HasFailure())
        fmt::print("{}\n", fmt::join(wrong, "\n"));
    EXPECT_EQ(away, unreadable.size()) << fmt::format("{}", fmt::join(unreadable, "\n"));
    EXPECT_EQ(session.lost("PHP frames without a name: unreadable") > 0, !unreadable.empty());
    for (const char* cause : {"gone before it was read", "memory that could not be read in time"})
        EXPECT_EQ(session.lost(fmt::format("PHP frames without a name: {}", cause)), 0u) << cause;
}

// What PHP calls in C is timed, and its callers are PHP's functions.
TEST_P(PhpFrames, AreTheCallersOfSlowCalls) {
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
        const PhpStack seen = look_at_php(session, call.stack);
        const Agreement agreement = compare_php(seen, *stretch);
        sleeps.equal += agreement == Agreement::equal;
        sleeps.lacking += agreement == Agreement::lacking;
        EXPECT_NE(agreement, Agreement::wrong) << seen.all.text;
    }
    EXPECT_EQ(sleeps.all(), 40u);
    EXPECT_EQ(sleeps.equal, 40u);
}

INSTANTIATE_TEST_SUITE_P(Modes, PhpFrames, testing::ValuesIn(php_modes()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
