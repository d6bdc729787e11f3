// SPDX-License-Identifier: GPL-3.0-or-later
// Every edit is whole or not at all: whichever of its steps the kernel refuses, what was in force
// before still is, in the kernel's own maps and links, and the next edit works.
#include "tests/kernel/faults.h"
#include "tests/kernel/program.h"
#include "tests/kernel/source_lines.h"
#include "tests/kernel/ways.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>

namespace auger::test {
namespace {

constexpr Threshold fixed(uint64_t ns) {
    return {Threshold::Kind::fixed, ns, 0};
}

class Faults : public WaysTest<LiveOptions::Attach> {};

TEST_P(Faults, LeaveInForceWhatWas) {
    Program program("drilldown", {"--calls", "40", "--wait"}), other("drilldown", {"--wait"});
    program.wait_ready();
    other.wait_ready();
    Session session({GetParam()});
    Backend& backend = session.backend();
    session.observe(program.pid());
    // What is proven of one target need not be of the next: then probes are attached anew, or go.
    must(backend.set_way_out(WayOut::ret));
    const ProbeId handle = session.time("handle", fixed(1'000'000'000));
    const std::string line = marked_line("drilldown.c", "BRANCH metered");
    const FilterSpec filter{{program.pid()}, {}, {"drilldown"}, {}};
    const TargetSpec target{TargetSpec::Kind::pids, {program.pid()}, false, {}, {}, {}, {}};
    TargetSpec two = target, named;
    two.pids.push_back(other.pid());
    named.kind = TargetSpec::Kind::name;
    named.name = "drilldown";

    SplitInfo by_line{true, handle, fixed(5'000'000), false};
    by_line.branch = Branch::at_line(line);
    SplitInfo by_value{true, handle, fixed(5'000'000), false};
    by_value.branch = Branch::on_condition("arg1 > 2");
    by_value.label = "arg1";
    OnlyInfo in_calls;
    in_calls.text = "in handle > 1ms at LINE";
    in_calls.gate = {{{GateTerm::Kind::call, handle, fixed(1'000'000), 0, {}}}, {{{0}, {}}}};
    in_calls.lines = {line};
    in_calls.line_clauses = {{{0}, {}}};
    SamplingSettings raised{99, true};
    raised.raised_hz = 19'999; // the program runs for some milliseconds only
    raised.raised = {{{GateTerm::Kind::call, handle, {}, 0, {}}}, {{{0}, {}}}};
    raised.wakers = true;
    CallConditions values{"arg1 > 0", "", {"arg1"}, false};

    uint32_t next_probe = 100, last_spec = session.report.places.at(0).spec.value;
    const std::string recording = testing::TempDir() + "faults.aug";
    auto split_to = [&](const SplitInfo& split) {
        return [&] { return backend.set_split(split); };
    };
    auto sample = [&](const SamplingSettings& sampling) {
        return [&backend, sampling] { return backend.set_sampling(sampling); };
    };
    const SplitInfo none;
    refuse_each_step(
        session,
        {
            {"target of two", [&] { return backend.set_target(two); },
             [&] { return backend.set_target(target); }},
            {"target by name", [&] { return backend.set_target(named); },
             [&] { return backend.set_target(target); }},
            {"add probe",
             [&]() -> Result<void> {
                 auto added = backend.add_probe({ProbeId{++next_probe}, "fetch", fixed(7), values});
                 if (!added)
                     return added.error();
                 // Recordings define specs in the order of their ids: a refused one leaves no gap.
                 EXPECT_EQ(added->places.at(0).spec.value, ++last_spec);
                 return {};
             },
             [&] { return backend.remove_probe(ProbeId{next_probe}); }},
            {"slow", [&] { return backend.set_slow(handle, fixed(77), {}); },
             [&] { return backend.set_slow(handle, fixed(1'000'000'000), {}); }},
            {"slow with values", [&] { return backend.set_slow(handle, fixed(77), values); },
             [&] { return backend.set_slow(handle, fixed(1'000'000'000), {}); }},
            {"filter", [&] { return backend.set_filter(filter); },
             [&] { return backend.set_filter({}); }},
            {"split by line", split_to(by_line), split_to(none)},
            {"split by value", split_to(by_value), split_to(none)},
            {"only", [&] { return backend.set_only(in_calls); },
             [&] { return backend.set_only({}); }},
            {"sample", sample({99, false}), sample({0, false})},
            {"sample wall", sample({99, true}), sample({0, false})},
            {"raised", sample(raised), sample({0, false})},
            {"-exit", [&] { return backend.set_way_out(WayOut::automatic); },
             [&] { return backend.set_way_out(WayOut::ret); }},
            {"-record", [&] { return backend.record(recording); },
             [&] { return backend.record(""); }},
            {"-keep", [&] { return backend.keep_last(std::chrono::seconds(1)); },
             [&] { return backend.keep_last(std::chrono::seconds(0)); }},
        });

    // Again from where everything is in force, to something else and back.
    must(backend.set_filter(filter));
    must(backend.set_split(by_value));
    must(backend.set_only(in_calls));
    must(backend.set_sampling(raised));
    OnlyInfo in_other = in_calls;
    in_other.text = "in handle > 9ms";
    in_other.gate.terms[0].older = fixed(9'000'000);
    in_other.lines.clear();
    in_other.line_clauses.clear();
    refuse_each_step(
        session, {
                     {"another target", [&] { return backend.set_target(two); },
                      [&] { return backend.set_target(target); }},
                     {"another filter",
                      [&] {
                          return backend.set_filter({{}, {}, {"other"}, {}});
                      },
                      [&] { return backend.set_filter(filter); }},
                     {"another split", split_to(by_line), split_to(by_value)},
                     {"no split", split_to(none), split_to(by_value)},
                     {"another only", [&] { return backend.set_only(in_other); },
                      [&] { return backend.set_only(in_calls); }},
                     {"another rate", sample({777, false}), sample(raised)},
                     {"only the waits' rate", sample({777, true}), sample(raised)},
                     {"another slow", [&] { return backend.set_slow(handle, fixed(77), values); },
                      [&] { return backend.set_slow(handle, fixed(1'000'000'000), {}); }},
                 });
    must(backend.set_only({}));
    must(backend.set_filter({}));

    // All of it still counts every call.
    program.go();
    EXPECT_TRUE(session.pump_until([&] {
        return std::ranges::any_of(backend.target_status().processes,
                                   [](const auto& process) { return !process.running; });
    }));
    const nlohmann::json account = program.account();
    EXPECT_TRUE(account["ok"].get<bool>()) << account;
    const Calls calls = session.calls(handle);
    EXPECT_TRUE(calls.add_up());
    EXPECT_EQ(calls.returns, account["handled"].get<uint64_t>());
    EXPECT_GT(session.model().ledger().ticks, 0u);
    std::filesystem::remove(recording);
}

INSTANTIATE_TEST_SUITE_P(Ways, Faults,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return info.param == LiveOptions::Attach::multi ? "multi" : "perf";
                         });

} // namespace
} // namespace auger::test
