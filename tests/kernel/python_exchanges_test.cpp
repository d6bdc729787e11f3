// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of an event loop of Python's that receives what several clients ask at once, and works
// for them in later turns: held against servers that know for which request they have taken their
// CPU time. Of Debian's Python always; asyncio's also of others: AUGER_PYTHONS.
#include "loader/kernel/features.h"
#include "loader/stream/task_samples.h"
#include "tests/kernel/program.h"
#include "tests/kernel/python_chains.h"
#include "tests/kernel/python_tasks.h"
#include "tests/kernel/session.h"
#include "tests/support/temporary_folder.h"
#include "views/model/classifier.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace auger::test {
namespace {

// A time in which the server worked for a request, whose last send returned between two others; or
// for none, behind it.
struct Work {
    std::string kind, work;
    uint64_t end_ns = 0;
    bool is_behind = false;
    uint64_t sending_ns = 0, sent_ns = 0;
};

// Of samples in such times: in the exchange that was answered then, in another one, in none.
struct Found {
    uint64_t right = 0, other = 0, none = 0;
    uint64_t all() const { return right + other + none; }
};

class PythonExchanges : public KernelTest, public testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped())
            return;
        if (!Features::detect().socket_tracepoints)
            GTEST_SKIP() << "this kernel has no tracepoints of sockets";
        if (!std::filesystem::exists(GetParam()))
            GTEST_SKIP() << GetParam() << " is not installed";
    }
    // The samples of such a server, which serves in so many ways, each in the exchange for which it
    // worked. What it does behind an answer is in none in these.
    void expect_purity(const std::string& server, size_t kinds,
                       const std::set<std::string>& known_behind);
    // By when it begins.
    std::map<uint64_t, Work> read_work() const {
        std::map<uint64_t, Work> all;
        std::ifstream file(path_);
        for (std::string line; std::getline(file, line);) {
            const auto told = nlohmann::json::parse(line);
            Work work{told["kind"], told["work"], 0, false, told["sent"][0], told["sent"][1]};
            // Where the machine is so busy that it takes longer the last part alone is sure.
            const uint64_t lasted = work.sent_ns - told["own"][0][0].get<uint64_t>();
            if (lasted > TaskSamples::patience_ns / 2)
                continue;
            for (const char* const which : {"own", "behind"}) {
                work.is_behind = which != std::string("own");
                for (const auto& stretch : told[which]) {
                    work.end_ns = stretch[1];
                    all.emplace(stretch[0].get<uint64_t>(), work);
                }
            }
        }
        return all;
    }

    TemporaryFolder folder_;
    const std::string path_ = folder_.path("work");
    // Samples in such times, and how many of them have no whole stack.
    size_t in_work_ = 0, cut_in_work_ = 0;
};

void count(Found& found, const Work& work, const CallRecord* exchange) {
    const uint64_t end = exchange ? exchange->start_ns + exchange->duration_ns : 0;
    if (!exchange)
        (work.is_behind ? found.right : found.none)++;
    else
        (!work.is_behind && end >= work.sending_ns && end <= work.sent_ns ? found.right
                                                                          : found.other)++;
}

void PythonExchanges::expect_purity(const std::string& server, size_t kinds,
                                    const std::set<std::string>& known_behind) {
    Program program(GetParam(), {"-B", AUGER_SOURCE_DIR "/tests/programs/" + server, path_});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
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
    session.sample(1999);
    program.go();
    const nlohmann::json truth = program.account();
    must(session.backend().set_sampling({}));
    CallStatistics now;
    ASSERT_TRUE(session.pump_until([&] {
        now = session.model().probe_statistics(id);
        return now.returns >= truth["served"].get<double>() && now.open == 0;
    })) << now.returns
        << " ended, " << now.open << " open, " << now.unwound << " unanswered, "
        << now.ambiguous.early << " early, " << now.ambiguous.unasked << " unasked, " << now.expired
        << " expired, " << now.stray << " stray";
    EXPECT_EQ(session.model().probe_statistics(id).returns, truth["served"].get<double>());
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);

    const std::map<uint64_t, Work> all_work = read_work();
    const Model& model = session.model();
    const Classifier classify(model);
    const SampleStore& samples = model.samples();
    std::map<std::string, Found> of_kind, of_work;
    std::map<std::string, Found> behind;
    for (size_t i = 0; i < samples.size(); i++) {
        const uint64_t time = samples.times()[i];
        const auto next = all_work.upper_bound(time);
        if (next == all_work.begin() || std::prev(next)->second.end_ns < time)
            continue;
        const Work& work = std::prev(next)->second;
        in_work_++;
        const auto names = session.stack_names(samples.stacks()[i]);
        cut_in_work_ += names.empty() || names.back().starts_with("[stack cut");
        const CallIndex call = classify.outermost(samples.calls()[i], time);
        const CallRecord* exchange = call == no_call ? nullptr : &model.calls()[call];
        if (work.is_behind) {
            count(behind[work.kind], work, exchange);
        } else {
            count(of_kind[work.kind], work, exchange);
            if (work.kind != "at-once")
                count(of_work[work.work], work, exchange);
        }
    }
    const auto print = [](const auto& counts, const char* what) {
        for (const auto& [name, found] : counts)
            fmt::print("{}{}: {} right, {} of another, {} of none\n", what, name, found.right,
                       found.other, found.none);
    };
    print(of_kind, "");
    print(of_work, "  work ");
    print(behind, "  behind the answer, ");
    EXPECT_EQ(of_kind.size(), kinds);
    for (const auto& [kind, found] : of_kind) {
        EXPECT_GE(found.all(), 300u) << kind;
        EXPECT_GE(found.right * 100, found.all() * 98) << kind;
    }
    EXPECT_EQ(behind.size(), kinds);
    for (const auto& [kind, found] : behind) {
        EXPECT_GE(found.all(), 30u) << kind;
        if (known_behind.contains(kind)) {
            EXPECT_GE(found.right * 100, found.all() * 95) << kind;
        }
    }
    EXPECT_EQ(of_work.size(), 5u);
    for (const auto& [work, found] : of_work)
        EXPECT_GE(found.right * 100, found.all() * 97) << work;
}

class AsyncioExchanges : public PythonExchanges {};
TEST_P(AsyncioExchanges, HoldTheSamplesOfTheTasksThatAnswerThem) {
    expect_purity("asyncio_exchanges.py", 4, {"streams", "close", "callback", "at-once"});
}

class GeventExchanges : public PythonExchanges {};
TEST_P(GeventExchanges, HoldTheSamplesOfTheGreenletsThatAnswerThem) {
    // Where a greenlet ends behind its answer, another one that begins then may have its place, and
    // answers what had come before.
    expect_purity("gevent_exchanges.py", 3, {"streams"});
    // Their stacks have a beginning: without it a third of them is cut.
    EXPECT_LE(cut_in_work_ * 100, in_work_) << cut_in_work_;
}

INSTANTIATE_TEST_SUITE_P(Pythons, AsyncioExchanges, testing::ValuesIn(pythons()), python_name);
INSTANTIATE_TEST_SUITE_P(Debian, GeventExchanges, testing::Values("/usr/bin/python3"), python_name);

} // namespace
} // namespace auger::test
