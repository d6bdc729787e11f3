// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of Java's virtual threads while one carries them, held against a program that knows its
// own chain of calls. Callers may be in Java's heap, where they lie on no stack: then what is left
// is the innermost part, and says so. There are such threads since Java 21: tests/support/javas.h
// says how one is named.
#include "loader/kernel/features.h"
#include "tests/kernel/exchange_work.h"
#include "tests/kernel/java_chains.h"
#include "tests/kernel/program.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace auger::test {
namespace {

using std::chrono::seconds;

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/VirtualChains.java";

struct Counts {
    // `mounted`: callers are in the heap, and what is on the stack is the innermost part of the
    // chain.
    uint64_t equal = 0, mounted = 0, lacking = 0, wrong = 0;
    uint64_t all() const { return equal + mounted + lacking + wrong; }
};

bool is_innermost(const PythonFrame& seen, const PythonStretch& truth) {
    const PythonFrame& known = truth.chain.back();
    return seen.function == known.function && seen.file == known.file &&
           seen.line >= truth.first_line && seen.line <= truth.last_line;
}

// Without the clock that it may be looking at.
std::vector<PythonFrame> own_chain(const PythonStack& seen) {
    std::vector<PythonFrame> chain = seen.chain;
    if (!chain.empty() && chain.back().function == "java.lang.System.nanoTime")
        chain.pop_back();
    return chain;
}

// Whether a chain ends as the truth does.
bool is_part(const std::vector<PythonFrame>& chain, const PythonStretch& truth) {
    return !chain.empty() && chain.size() <= truth.chain.size() &&
           is_innermost(chain.back(), truth) &&
           std::equal(chain.begin(), chain.end() - 1,
                      truth.chain.end() - static_cast<std::ptrdiff_t>(chain.size()));
}

// Whether frames are those of a carrier that has mounted a virtual thread.
bool is_carrier(const std::vector<PythonFrame>& chain) {
    const auto has = [&](const char* function) {
        return std::ranges::any_of(
            chain, [&](const PythonFrame& frame) { return frame.function == function; });
    };
    return !chain.empty() &&
           chain.front().function == "java.util.concurrent.ForkJoinWorkerThread.run" &&
           has("jdk.internal.vm.Continuation.run") &&
           has("jdk.internal.vm.Continuation.enterSpecial") &&
           has("jdk.internal.vm.Continuation.enter");
}

void count(const PythonStack& seen, const PythonStretch& truth, Counts& counts) {
    std::vector<PythonFrame> chain = own_chain(seen);
    if (seen.text.find("[stack cut: callers of a virtual thread are in the heap]") !=
        seen.text.npos) {
        (is_part(chain, truth) ? counts.mounted : counts.wrong)++;
        return;
    }
    const size_t depth = truth.chain.size();
    const bool is_deep = chain.size() > depth;
    const auto inner = chain.end() - static_cast<std::ptrdiff_t>(is_deep ? depth : chain.size());
    const bool agrees =
        is_deep && is_part({inner, chain.end()}, truth) && is_carrier({chain.begin(), inner});
    (seen.cut ? counts.lacking : agrees ? counts.equal : counts.wrong)++;
}

class VirtualThreads : public KernelTest, public testing::WithParamInterface<JavaMode> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        constexpr int first_with_them = 21;
        if (java_version(GetParam().java) < first_with_them)
            GTEST_SKIP() << GetParam().java << " has no virtual threads";
    }
};

TEST_P(VirtualThreads, AreTheProgramsOwnChains) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    std::vector<std::string> arguments = java_options(GetParam());
    arguments.insert(arguments.end(),
                     {"-Djdk.virtualThreadScheduler.parallelism=1",
                      "-Djdk.virtualThreadScheduler.maxPoolSize=1", program_source, path});
    Program program(GetParam().java, arguments);
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    session.sample(999);
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
    std::map<std::string, Counts> phases;
    const auto stretches = read_python_stretches(path);
    EXPECT_GE(stretches.size(), 8u);
    for (const SampleEvent& sample : session.log.samples) {
        const ThreadInfo& thread = session.model().symbols().thread(sample.thread);
        const auto stretch = std::ranges::find_if(stretches, [&](const PythonStretch& one) {
            return one.tid == thread.tid && one.begin_ns <= sample.time_ns &&
                   sample.time_ns <= one.end_ns;
        });
        if (stretch == stretches.end())
            continue;
        Counts& counts = phases[stretch->phase];
        const uint64_t as_it_should = counts.equal + counts.mounted;
        const PythonStack seen = look_at_java(session, sample.stack);
        count(seen, *stretch, counts);
        if (counts.equal + counts.mounted == as_it_should && others.size() < 8)
            others.push_back(fmt::format("{}:\n{}", stretch->phase, seen.text));
    }
    Counts total;
    EXPECT_EQ(phases.size(), 8u);
    for (const auto& [phase, counts] : phases) {
        fmt::print("{}: {} equal, {} mounted, {} lacking, {} wrong\n", phase, counts.equal,
                   counts.mounted, counts.lacking, counts.wrong);
        EXPECT_GE(counts.all(), 10u) << phase;
        EXPECT_EQ(counts.wrong, 0u) << phase;
        // Of a thread that was never parked all is on the stack.
        const bool was_parked = phase.find("parked") != phase.npos;
        EXPECT_TRUE(was_parked || counts.mounted == 0) << phase;
        // The interpreter's frames come back two at once.
        if (was_parked && GetParam().name == "Interpreter") {
            EXPECT_EQ(counts.equal, 0u) << phase;
        }
        total.equal += counts.equal;
        total.mounted += counts.mounted;
        total.lacking += counts.lacking;
        total.wrong += counts.wrong;
    }
    EXPECT_GE((total.equal + total.mounted) * 100, total.all() * 99)
        << total.lacking << " lack frames";
    if (HasFailure())
        fmt::print("{}\n", fmt::join(others, "\n"));
}

class VirtualExchanges : public KernelTest, public testing::WithParamInterface<std::string> {};

// Which virtual thread a thread carries is told since JDK 25.
TEST_P(VirtualExchanges, HoldTheSamplesOfTheThreadsThatAnswerThem) {
    constexpr int first_that_tells = 25;
    if (java_version(GetParam()) < first_that_tells)
        GTEST_SKIP() << GetParam() << " does not tell its virtual threads";
    if (!Features::detect().socket_tracepoints)
        GTEST_SKIP() << "this kernel has no tracepoints of sockets";
    constexpr std::array work = {"VirtualExchanges.workAtOnce", "VirtualExchanges.workSleeping",
                                 "VirtualExchanges.workYielding", "VirtualExchanges.workForNobody"};
    Program program(GetParam(), {"-Djdk.virtualThreadScheduler.parallelism=2",
                                 "-Djdk.virtualThreadScheduler.maxPoolSize=2",
                                 AUGER_SOURCE_DIR "/tests/programs/VirtualExchanges.java"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id{100};
    split_by_exchanges(session, id);
    session.sample(1999);
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    program.go();
    const nlohmann::json truth = program.account();
    must(session.backend().set_sampling({}));
    // Until all is delivered: its names go with it.
    ASSERT_TRUE(session.pump_until([&, before = size_t{0}]() mutable {
        return session.log.samples.size() == std::exchange(before, session.log.samples.size());
    }));
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(seconds(60));
    EXPECT_EQ(session.model().probe_statistics(id).returns, truth["served"].get<double>());
    expect_work_in_its_exchanges(session, work);
}

INSTANTIATE_TEST_SUITE_P(Javas, VirtualExchanges, testing::ValuesIn(javas()),
                         [](const auto& info) { return fmt::format("Java{}", info.index); });
INSTANTIATE_TEST_SUITE_P(Modes, VirtualThreads, testing::ValuesIn(java_modes()), name_of);

} // namespace
} // namespace auger::test
