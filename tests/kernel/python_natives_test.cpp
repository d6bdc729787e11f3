// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of C by the names that Python has for them, held against a program that counts its own
// calls.
#include "tests/kernel/program.h"
#include "tests/kernel/python_chains.h"
#include "tests/kernel/python_tasks.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using testing::HasSubstr;

class PythonNatives : public KernelTest, public testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(GetParam()))
            GTEST_SKIP() << GetParam() << " is not installed";
        program_.emplace(GetParam(), std::vector<std::string>{AUGER_SOURCE_DIR
                                                              "/tests/programs/python_natives.py"});
        program_->wait_ready();
        session_.observe(program_->pid());
        ASSERT_TRUE(session_.pump_until(
            [&] { return session_.backend().unwind_status().pending.empty(); }));
    }
    std::string why_not(const std::string& name) {
        const auto timed = session_.try_time(name);
        return timed ? "it is timed" : timed.error().message();
    }

    std::optional<Program> program_;
    Session session_;
};

TEST_P(PythonNatives, AreTimedByTheirNames) {
    std::map<std::string, ProbeId> probes;
    for (const std::string name :
         {"zlib.compress", "math.factorial", "str.swapcase", "bytes.fromhex", "socket.socket.recv"})
        probes[name] = session_.time("py:" + name);
    probes["time.sleep"] = session_.time("py:time.sleep", {Threshold::Kind::fixed, 1'000'000, 0});
    const ProbeId late = must(session_.try_time("py:unicodedata.normalize"));
    EXPECT_TRUE(session_.report.pending);
    must(session_.try_time("py:unicodedata.nothing"));
    EXPECT_THAT(session_.report.notes,
                testing::Contains(HasSubstr("because unicodedata is not imported")));

    program_->go();
    EXPECT_EQ(program_->read_line(), "imported");
    ASSERT_TRUE(
        session_.pump_until([&] { return session_.noticed("unicodedata.normalize: now"); }));
    // That it will not come is told, too.
    ASSERT_TRUE(
        session_.pump_until([&] { return session_.noticed("unicodedata has no nothing"); }));
    program_->go();
    const nlohmann::json truth = program_->account();
    session_.pump_to_end();

    for (const auto& [name, probe] : probes) {
        SCOPED_TRACE(name);
        const Calls calls = session_.calls(probe);
        EXPECT_GT(calls.entries, 0u);
        EXPECT_EQ(calls.entries, truth["calls"][name].get<uint64_t>());
        EXPECT_EQ(calls.returns, calls.entries);
    }
    EXPECT_EQ(session_.calls(late).returns, truth["late"].get<uint64_t>());

    // Each of the slow calls is one of its own, within what its clock says.
    const auto& slow = session_.model().slow_calls();
    EXPECT_EQ(slow.size(), truth["sleeps"].size());
    for (const SlowCall& call : slow) {
        EXPECT_GE(call.end.duration_ns, 2'000'000u);
        EXPECT_TRUE(std::ranges::any_of(truth["sleeps"], [&](const nlohmann::json& sleep) {
            return sleep[0].get<uint64_t>() <= call.end.call.start_ns &&
                   call.end.time_ns <= sleep[1].get<uint64_t>();
        })) << call.end.call.start_ns;
    }
}

TEST_P(PythonNatives, OthersAreRefused) {
    EXPECT_THAT(why_not("py:json.loads"), HasSubstr("json.loads: it is written in Python"));
    EXPECT_THAT(why_not("py:zlib.expand"), HasSubstr("zlib has no expand"));
    EXPECT_THAT(why_not("py:socket.socket.expand"), HasSubstr("socket.socket has no expand"));
    EXPECT_THAT(why_not("py:expand"), HasSubstr("builtins has no expand"));
    EXPECT_THAT(why_not("py:threading.Thread"), HasSubstr("it is a class"));
    EXPECT_THAT(why_not("py:str.split.more"), HasSubstr("str.split"));
    EXPECT_THAT(why_not("py:int.__new__"), HasSubstr("serves __new__ of all classes"));
    EXPECT_THAT(why_not("py:list.__len__"), testing::ContainsRegex("slot|of built-in classes"));
    EXPECT_THAT(why_not("py:sys.argv"), HasSubstr("it is a list, not a function"));
    EXPECT_THAT(why_not("py:zlib.*"), HasSubstr("no character of a name in this language"));
    EXPECT_THAT(why_not("py:"), HasSubstr("no function after the `:`"));
    program_->go();
    EXPECT_EQ(program_->read_line(), "imported");
    program_->go();
    program_->account();
}

// As points of a span, one of which waits for its module.
TEST_P(PythonNatives, ArePointsOfSpans) {
    SpanDefinition span;
    span.text = "from py:math.factorial to py:time.sleep";
    span.points = {{.role = SpanPoint::Role::from, .probe = "py:math.factorial"},
                   {.role = SpanPoint::Role::to, .probe = "py:time.sleep"}};
    const ProbeId known{100}, late{101};
    must(session_.backend().add_probe({known, "known", {}, {}, span}));
    span.text = "from py:unicodedata.normalize to py:unicodedata.category";
    span.points = {{.role = SpanPoint::Role::from, .probe = "py:unicodedata.normalize"},
                   {.role = SpanPoint::Role::to, .probe = "py:unicodedata.category"}};
    const ProbeReport report = must(session_.backend().add_probe({late, "late", {}, {}, span}));
    EXPECT_THAT(report.notes, testing::Contains(HasSubstr("because unicodedata is not imported")));
    program_->go();
    EXPECT_EQ(program_->read_line(), "imported");
    ASSERT_TRUE(session_.pump_until([&] {
        return session_.noticed("unicodedata.normalize: now") &&
               session_.noticed("unicodedata.category: now");
    }));
    program_->go();
    const nlohmann::json truth = program_->account();
    session_.pump_to_end();
    EXPECT_EQ(session_.model().probe_statistics(known).returns,
              truth["calls"]["math.factorial"].get<double>());
    EXPECT_EQ(session_.model().probe_statistics(late).returns, truth["late"].get<double>());
}

// A module is known before its code has defined all.
TEST_P(PythonNatives, AreWaitedForWhileTheirModuleIsBeingMade) {
    Program program(GetParam(), {"-c", R"(
import math, os, sys, types
print('ready', os.getpid(), flush=True)
input()
made = sys.modules['made'] = types.ModuleType('made')
input()
made.factorial = math.factorial
input()
for i in range(300):
    made.factorial(20)
)"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    const ProbeId factorial = must(session.try_time("py:made.factorial"));
    EXPECT_TRUE(session.report.pending);
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.noticed("made has no factorial"); }));
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.noticed("made.factorial: now"); }));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    EXPECT_EQ(session.calls(factorial).returns, 300u);
}

INSTANTIATE_TEST_SUITE_P(Interpreters, PythonNatives, testing::ValuesIn(pythons()), python_name);

} // namespace
} // namespace auger::test
