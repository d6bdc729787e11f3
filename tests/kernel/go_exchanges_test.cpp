// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of exchanges of a Go program, whose goroutines go from thread to thread in the middle of
// them while their threads work for others: held against a server that has a function of its own
// for each kind of request.
#include "loader/kernel/features.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "views/model/classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace auger::test {
namespace {

constexpr std::array work = {"main.workAtOnce", "main.workSleeping", "main.workYielding",
                             "main.workAsking", "main.workForNobody"};
constexpr size_t for_nobody = 4;

// Of samples in a function: in an exchange of its own, in one that has others', in none.
struct Found {
    uint64_t right = 0, other = 0, none = 0;
    uint64_t all() const { return right + other + none; }
};

class GoExchanges : public KernelTest, public testing::WithParamInterface<bool> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped())
            return;
        if (!Features::detect().socket_tracepoints)
            GTEST_SKIP() << "this kernel has no tracepoints of sockets";
        if (!std::filesystem::exists(program_path("go_exchanges")))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
    // The place in `work`; its size: none of these.
    static size_t work_of(Session& session, StackId stack) {
        const auto names = session.stack_names(stack);
        for (size_t i = 0; i < work.size(); i++)
            if (std::ranges::find(names, work[i]) != names.end())
                return i;
        return work.size();
    }
};

TEST_P(GoExchanges, HoldTheSamplesOfTheGoroutinesThatAnswerThem) {
    Program program("go_exchanges", {});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId id{100};
    SpanDefinition span;
    span.exchanges = ExchangeDefinition{};
    span.text = "exchanges";
    must(session.backend().add_probe({id, "exchange", {}, {}, span}));
    SplitInfo split;
    split.active = true;
    split.probe = id;
    split.threshold = {Threshold::Kind::fixed, 10'000'000, 0};
    must(session.backend().set_split(split));
    must(session.backend().set_sampling({1999, GetParam()}));
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    program.go();
    const nlohmann::json truth = program.account();
    must(session.backend().set_sampling({}));
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(std::chrono::seconds(60));
    EXPECT_EQ(session.model().probe_statistics(id).returns, truth["served"].get<double>());

    const Model& model = session.model();
    const Classifier classify(model);
    const SampleStore& samples = model.samples();
    struct Sample {
        size_t work;
        CallIndex exchange;
    };
    std::vector<Sample> of_work;
    std::map<CallIndex, std::array<uint64_t, work.size()>> held;
    for (size_t i = 0; i < samples.size(); i++) {
        const size_t at = work_of(session, samples.stacks()[i]);
        if (at == work.size())
            continue;
        const CallIndex exchange = classify.outermost(samples.calls()[i], samples.times()[i]);
        of_work.push_back({at, exchange});
        if (exchange != no_call)
            held[exchange][at]++;
    }
    std::array<Found, work.size()> found{};
    for (const Sample& sample : of_work) {
        Found& in = found[sample.work];
        if (sample.exchange == no_call) {
            in.none++;
            continue;
        }
        const auto& all = held[sample.exchange];
        const auto most = std::ranges::max_element(all) - all.begin();
        (most == static_cast<ptrdiff_t>(sample.work) ? in.right : in.other)++;
    }
    for (size_t i = 0; i < work.size(); i++)
        fmt::print("{}: {} in exchanges of its own, {} of others, {} in none\n", work[i],
                   found[i].right, found[i].other, found[i].none);
    for (size_t i = 0; i < for_nobody; i++) {
        EXPECT_GE(found[i].all(), 300u) << work[i];
        // Where the goroutine's memory cannot be read just then, it works for nothing that is known.
        EXPECT_EQ(found[i].other, 0u) << work[i];
        EXPECT_LE(found[i].none * 200, found[i].all()) << work[i];
    }
    EXPECT_GE(found[for_nobody].all(), 100u);
    EXPECT_EQ(found[for_nobody].none, found[for_nobody].all());
}

INSTANTIATE_TEST_SUITE_P(Clocks, GoExchanges, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "wall" : "cpu"); });

} // namespace
} // namespace auger::test
