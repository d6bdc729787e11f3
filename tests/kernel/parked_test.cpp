// SPDX-License-Identifier: GPL-3.0-or-later
// Goroutines that wait in timed calls: for how long and what for, as the program knows by its own
// clock, and where, by their stacks.
#include "loader/kernel/features.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/temporary_folder.h"
#include "views/model/account.h"
#include "views/model/classifier.h"

#include <fmt/format.h>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using testing::HasSubstr;

constexpr uint32_t rate_hz = 997;

SamplingSettings waits() {
    SamplingSettings sampling;
    sampling.rate_hz = rate_hz;
    sampling.wall = true;
    return sampling;
}

size_t reason(std::string_view name) {
    return static_cast<size_t>(std::ranges::find(park_reason_names, name) -
                               park_reason_names.begin());
}

class ParkedGoroutines : public KernelTest, public testing::WithParamInterface<const char*> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(program_path(GetParam())))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
};

// What the program measures lies around the wait: `least` ends when somebody is about to end it,
// `most` when the goroutine has gone on. All read one clock.
TEST_P(ParkedGoroutines, WaitAsLongAsTheProgramSaysAndForThat) {
    const std::map<std::string, std::string> reasons = {
        {"main.sleeps", "sleep"},   {"main.receives", "chan receive"}, {"main.sends", "chan send"},
        {"main.selects", "select"}, {"main.joins", "semacquire"},      {"main.reads", "IO wait"},
        {"main.grows", "sleep"},
    };
    Program program(GetParam(), {"--calls", "12", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    std::map<std::string, ProbeId> probes;
    for (const char* name :
         {"main.sleeps", "main.receives", "main.sends", "main.selects", "main.joins", "main.reads",
          "main.grows", "main.raises", "main.leaves", "main.handle", "main.forever"})
        probes[name] = session.time(name);
    must(session.backend().set_sampling(waits()));
    program.go();
    const nlohmann::json account = program.account();
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    EXPECT_GT(account["migrated"].get<uint64_t>(), 10u);
    EXPECT_TRUE(session.pump_until([&] {
        return session.calls(probes["main.forever"]).entries == 8 &&
               session.calls(probes["main.leaves"]).open == 0;
    }));
    EXPECT_EQ(session.notice_with("goroutines"), "");
    for (const auto& [name, truth] : account["functions"].items()) {
        SCOPED_TRACE(name);
        const Calls calls = session.calls(probes.at(name));
        EXPECT_EQ(calls.entries, truth["entries"].get<uint64_t>());
        EXPECT_EQ(calls.returns, truth["returns"].get<uint64_t>());
        EXPECT_EQ(calls.unwound, truth["unwound"].get<uint64_t>());
        EXPECT_EQ(calls.dropped, 0u);
        const CallStatistics statistics = session.model().probe_statistics(probes.at(name));
        const SpanTimes& times = statistics.span;
        // The wall clock, whole.
        EXPECT_DOUBLE_EQ(times.sum(), statistics.sum_ns);
        EXPECT_EQ(times.watched, times.attached);
        EXPECT_LE(times.blocked + times.runnable, times.attached);
        EXPECT_DOUBLE_EQ(std::accumulate(times.parked_for.begin(), times.parked_for.end(), 0.0),
                         times.parked);
        const auto expected = reasons.find(name);
        if (expected == reasons.end())
            continue;
        const double least = truth["least_ns"].get<double>(), most = truth["most_ns"].get<double>();
        EXPECT_GE(times.parked_for[reason(expected->second)], 0.98 * least);
        // The rest the garbage collector may have wanted of who allocates; or the goroutine was
        // preempted where the function begins, before the program looks at its clock.
        EXPECT_LE(times.parked_for[reason(expected->second)], most);
    }
    // Calls that never end are those of a process that does.
    EXPECT_EQ(session.calls(probes["main.forever"]).open, 8);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
    session.pump_to_end();
    EXPECT_EQ(session.calls(probes["main.forever"]).unwound, 8u);
    const LedgerEvent& ledger = session.model().ledger();
    EXPECT_EQ(session.model().samples_received(), ledger.samples + ledger.wait_samples);
}

// One call in ten waits for what somebody else brings late, the others sleep for a fifth of that.
TEST_P(ParkedGoroutines, SayWhereSlowCallsWaited) {
    Program program(GetParam(), {"--calls", "30", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId handle = session.time("main.handle", {Threshold::Kind::fixed, 12'000'000, 0});
    must(session.backend().set_sampling(waits()));
    SplitInfo split;
    split.active = true;
    split.probe = handle;
    split.threshold = {Threshold::Kind::fixed, 12'000'000, 0};
    must(session.backend().set_split(split));
    program.go();
    const nlohmann::json account = program.account();
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    ASSERT_TRUE(session.pump_until([&] {
        return session.calls(handle).open == 0 && session.calls(handle).returns == 240 &&
               session.backend().symbol_progress().pending == 0 &&
               make_account(session.model()).classes[CallClass::open].samples == 0;
    }));
    const Model& model = session.model();
    const Classifier classify(model);
    const SampleStore& samples = model.samples();
    struct Weights {
        double all = 0, named = 0;
    } fetching, looking;
    double slow = 0;
    const auto has = [](const std::vector<std::string>& names, const char* name) {
        return std::ranges::find(names, name) != names.end();
    };
    double parked = 0;
    std::map<std::string, double> waited_for; // what fetching was seen to wait for
    for (size_t i = 0; i < samples.size(); i++) {
        const auto names = session.stack_names(samples.stacks()[i]);
        if (names.empty() || !names.front().starts_with("[parked: "))
            continue;
        // Whoever allocates waits for the garbage collector, which the program calls all the time.
        if (has(names, "runtime.mallocgc"))
            continue;
        EXPECT_EQ(samples.kinds()[i], SampleKind::blocked);
        // Nothing but what is timed is watched.
        EXPECT_TRUE(has(names, "main.handle")) << testing::PrintToString(names);
        EXPECT_TRUE(has(names, "main.worker")) << testing::PrintToString(names);
        const auto weight = static_cast<double>(samples.weights()[i]);
        const CallIndex call = classify.outermost(samples.calls()[i]);
        ASSERT_NE(call, no_call);
        const CallClass kind = classify.class_of_call(call);
        parked += weight;
        slow += kind == CallClass::slow ? weight : 0;
        if (has(names, "main.fetch")) {
            fetching.all += weight;
            waited_for[fmt::format("{} {}", to_string(kind), names.front())] += weight;
            if (kind == CallClass::slow && names.front() == "[parked: chan receive]")
                fetching.named += weight;
        } else if (has(names, "main.look")) {
            looking.all += weight;
            if (names.front() == "[parked: sleep]")
                looking.named += weight;
        }
    }
    // Whoever fetches takes 20 ms. (On a busy machine a call that only looks may be slow, too.)
    ASSERT_GT(fetching.all, 0);
    ASSERT_GT(looking.all, 0);
    EXPECT_GE(fetching.named, 0.99 * fetching.all) << testing::PrintToString(waited_for);
    EXPECT_GE(looking.named, 0.99 * looking.all);
    EXPECT_GE(fetching.all + looking.all, 0.99 * parked);
    EXPECT_GT(fetching.named, slow / 2);
    // A wait's part of a period is a sample with that probability: 240 of them have a standard
    // deviation of at most half of a period each. Five of those.
    const CallStatistics statistics = model.probe_statistics(handle);
    EXPECT_NEAR(parked, statistics.span.parked, 5 * 0.5 * std::sqrt(240.0) * 1e9 / rate_hz);
    // Slow calls that were traced say so, each for itself.
    ASSERT_FALSE(session.log.slow_calls.empty());
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        EXPECT_TRUE(call.end.waits);
        EXPECT_GT(call.end.parked_ns, 0u);
        EXPECT_LE(call.end.parked_ns + call.end.queued_ns, call.end.duration_ns);
    }
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

TEST_P(ParkedGoroutines, AreListedWithWhatTheyWaitFor) {
    Program program(GetParam(), {"--calls", "0", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().set_sampling(waits()));
    const ProbeId forever = session.time("main.forever");
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.calls(forever).open == 8; }));
    (void)program.account();
    if (Features::detect().map_iterators) {
        const auto all_parked = [&] {
            const std::vector<OpenCall> open = must(session.backend().open_calls(forever));
            return open.size() == 8 && std::ranges::all_of(open, [](const OpenCall& call) {
                       return call.wait.find("parked: chan receive, for ") != std::string::npos;
                   });
        };
        EXPECT_TRUE(session.pump_until(all_parked)) << [&] {
            std::string text;
            for (const OpenCall& call : must(session.backend().open_calls(forever)))
                text += "\n  " + call.wait;
            for (const Notice& notice : session.model().notices())
                text += "\n  " + notice.text;
            return text;
        }();
    }
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Probes in the runtime cost every goroutine, so they are there only while somebody wants them.
TEST_P(ParkedGoroutines, AreWatchedOnlyWhileWaitsAreSampled) {
    Program program(GetParam(), {"--calls", "3", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const size_t before = session.backend().links().size();
    must(session.backend().set_sampling(waits()));
    const size_t sampling = session.backend().links().size() - before;
    must(session.backend().set_sampling({rate_hz, false}));
    const ProbeId handle = session.time("main.handle");
    const size_t timed = session.backend().links().size();
    must(session.backend().set_sampling(waits()));
    EXPECT_GT(session.backend().links().size(), timed + sampling);
    must(session.backend().set_sampling({rate_hz, false}));
    EXPECT_EQ(session.backend().links().size(), timed);
    must(session.backend().set_sampling(waits()));
    must(session.backend().remove_probe(handle));
    EXPECT_EQ(session.backend().links().size(), before + sampling);
    must(session.backend().set_sampling({rate_hz, false}));
    const ProbeId again = session.time("main.handle");
    program.go();
    (void)program.account();
    ASSERT_TRUE(session.pump_until([&] { return session.calls(again).returns == 24; }));
    EXPECT_EQ(session.model().probe_statistics(again).span.sum(), 0);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// Two goroutines that do nothing but wake each other.
TEST_P(ParkedGoroutines, ThatSwitchTooOftenAreNotWatched) {
    // Other tests observe others of the same file, whose probes this one would meet.
    const TemporaryFolder folder;
    const std::string path = folder.path("pingpong");
    std::filesystem::copy_file(program_path(GetParam()), path);
    Program program(path, {"--calls", "3", "--pingpong", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId handle = session.time("main.handle");
    const size_t timed = session.backend().links().size();
    must(session.backend().set_sampling(waits()));
    const size_t watched = session.backend().links().size();
    EXPECT_GT(watched, timed);
    ASSERT_TRUE(session.pump_until([&] { return session.noticed("goroutines switch "); }));
    EXPECT_LT(session.backend().links().size(), watched);
    ASSERT_TRUE(session.pump_until(
        [&] { return session.model().ledger().goroutines == LedgerEvent::Goroutines::too_often; }));
    EXPECT_GT(session.model().ledger().goroutine_switches, 0u);
    program.go();
    const nlohmann::json account = program.account();
    ASSERT_TRUE(account["ok"].get<bool>()) << account;
    EXPECT_TRUE(session.pump_until([&] { return session.calls(handle).returns == 24; }));
    EXPECT_EQ(session.model().probe_statistics(handle).span.sum(), 0);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

// ... in a process that runs the same program, and is not observed.
TEST_P(ParkedGoroutines, OfOthersThatSwitchTooOftenAreNotWatched) {
    const TemporaryFolder folder;
    const std::string path = folder.path("pingpong");
    std::filesystem::copy_file(program_path(GetParam()), path);
    Program program(path, {"--calls", "0", "--wait", "--linger"});
    Program other(path, {"--calls", "0", "--pingpong", "--linger"});
    for (Program* one : {&program, &other})
        one->wait_ready();
    Session session;
    session.observe(program.pid());
    session.time("main.forever");
    must(session.backend().set_sampling(waits()));
    ASSERT_TRUE(session.pump_until([&] { return session.noticed("goroutines switch "); }));
    EXPECT_TRUE(session.noticed("in processes that run the same program and are not observed"));
    EXPECT_EQ(session.model().ledger().goroutine_switches, 0u);
    for (Program* one : {&program, &other}) {
        one->go();
        EXPECT_TRUE(one->account()["ok"].get<bool>());
        one->go();
        EXPECT_EQ(one->wait_exit(), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Linked, ParkedGoroutines,
                         testing::Values("parked", "parked_pie", "parked_stripped"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace auger::test
