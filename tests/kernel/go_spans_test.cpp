// SPDX-License-Identifier: GPL-3.0-or-later
// Spans between Go's functions, whose goroutines go from thread to thread in the middle of them:
// held against what a program knows of its jobs.
#include "tests/kernel/exchange_work.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <string>

namespace auger::test {
namespace {

using testing::HasSubstr;
using Role = SpanPoint::Role;

class GoSpans : public KernelTest, public testing::WithParamInterface<const char*> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!IsSkipped() && !std::filesystem::exists(program_path("go_jobs")))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
    static SpanDefinition jobs(const std::string& key) {
        SpanDefinition span;
        span.points = {{.role = Role::from, .probe = "main.begin", .key = key},
                       {.role = Role::to, .probe = "main.finish", .key = key}};
        span.text = "from main.begin to main.finish";
        return span;
    }
};

// A job takes 4.5 ms and more, and by auger's clock what lies between the program's own and the
// function that it calls next, at each end: two probes of 10 us and what it does there, 0.5 %.
TEST_P(GoSpans, LastFromOneFunctionToAnother) {
    const ProbeId id{100};
    Program program("go_jobs", {});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    must(session.backend().add_probe({id, "job", {}, {}, jobs(GetParam())}));
    SplitInfo split;
    split.active = true;
    split.probe = id;
    split.threshold = {Threshold::Kind::fixed, 10'000'000, 0};
    must(session.backend().set_split(split));
    const nlohmann::json truth = sample_whole_work(session, program);

    const CallStatistics spans = session.model().probe_statistics(id);
    // Who finishes what another one began has nothing to do with it, unless the key says so.
    const auto jobs = truth["jobs"].get<double>(), others = truth["handed_over"].get<double>();
    const bool keyed = *GetParam();
    EXPECT_EQ(spans.entries, jobs + others);
    EXPECT_EQ(spans.returns, keyed ? jobs + others : jobs);
    EXPECT_EQ(spans.stray, keyed ? 0 : others);
    EXPECT_NEAR(spans.sum_ns / truth["took_ns"].get<double>(), 1, 0.02);

    constexpr std::array functions = {"main.workInJob", "main.workBetween"};
    const auto found = samples_of_work(session, functions);
    EXPECT_GE(found[0].all(), 300u);
    // Where the goroutine's memory cannot be read just then, it works for nothing that is known.
    EXPECT_LE(found[0].none * 200, found[0].all());
    EXPECT_GE(found[1].all(), 100u);
    EXPECT_EQ(found[1].none, found[1].all());
}

INSTANTIATE_TEST_SUITE_P(Keys, GoSpans, testing::Values("", "n"), [](const auto& info) {
    return std::string(*info.param ? "keyed" : "by_goroutine");
});

TEST_P(GoSpans, DoNotBeginWhereOneReturns) {
    Program program("go_jobs", {});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    SpanDefinition span = jobs("");
    span.points[0].at_return = true;
    const auto added = session.backend().add_probe({ProbeId{100}, "job", {}, {}, span});
    ASSERT_FALSE(added);
    EXPECT_THAT(added.error().message(), HasSubstr("the return of a Go function cannot be a point"));
}

} // namespace
} // namespace auger::test
