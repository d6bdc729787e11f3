// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of an interpreter in children that are forked from it, and execute another program
// before anybody could read their names, as what `system` and `qx` start does.
#include "tests/kernel/interpreted_chains.h"
#include "tests/kernel/program.h"

#include <algorithm>

namespace auger::test {
namespace {

constexpr int children = 300;
const char* const program_text = R"(
use strict;
sub burn { my $sum = 0; $sum += $_ for 1 .. 60000; return $sum }
sub in_child { burn(); exec '/bin/true' }
sub begin_child { my $child = fork; in_child() if !$child; waitpid $child, 0 }
$| = 1;
print "ready $$\n";
<STDIN>;
begin_child() for 1 .. shift;
<STDIN>;
)";

constexpr ChainRules rules = {
    ModuleKind::perl,
    "perl",
    [](const std::string&) { return false; },
    [](const std::string&) { return true; },
    [](const std::string&) { return false; },
};

class ForkedChildren : public InterpreterTest {};

TEST_P(ForkedChildren, HaveTheNamesOfWhomTheyWereForkedFrom) {
    Program program(GetParam().program, arguments({"-e", program_text, std::to_string(children)}));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    must(session.backend().set_sampling({.rate_hz = 999}));
    program.go();
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(std::chrono::seconds(60));

    uint64_t in_burn = 0, nameless = 0;
    std::string example;
    for (const SampleEvent& sample : session.log.samples) {
        if (session.model().symbols().thread(sample.thread).pid ==
            static_cast<uint32_t>(program.pid()))
            continue;
        const InterpretedStack seen = look_at_chain(session, sample.stack, rules);
        const auto& chain = seen.all.chain;
        if (seen.all.text.find("[perl") != std::string::npos) {
            // While a page is copied for the child it is nobody's.
            if (seen.all.text.find("page_fault") == std::string::npos) {
                nameless++;
                example = seen.all.text;
            }
        } else if (!chain.empty() && !seen.all.cut) {
            EXPECT_TRUE(chain.size() >= 2 && chain[0].function == "(main)" &&
                        chain[1].function == "main::begin_child")
                << seen.all.text;
            in_burn += chain.back().function == "main::burn";
        }
    }
    // A child computes for some milliseconds.
    EXPECT_GE(in_burn, uint64_t{children} / 3);
    EXPECT_EQ(nameless, 0u) << example;
}

INSTANTIATE_TEST_SUITE_P(Modes, ForkedChildren,
                         testing::Values(InterpreterMode{"Perl", "/usr/bin/perl", {}}),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
