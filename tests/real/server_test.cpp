// SPDX-License-Identifier: GPL-3.0-or-later
// Servers that know nothing of auger, whole: timed, sampled and split under load, by a command file
// that reads as an example. What auger says is compared with the servers' own logs and with what
// their clients asked for; and the servers must not mind.
#include "tests/real/apache.h"
#include "tests/real/mariadb.h"
#include "tests/real/observer.h"
#include "tests/support/kernel_test.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <tuple>

namespace auger::test {
namespace {

using nlohmann::json;

struct Subject {
    std::string name, packages;
    std::vector<std::string> programs;
    std::function<std::unique_ptr<Server>()> start;
};

void PrintTo(const Subject& subject, std::ostream* out) {
    *out << subject.name;
}

template <typename S>
Subject subject(const char* name) {
    return {name, S::packages, {std::begin(S::programs), std::end(S::programs)}, [] {
                return std::make_unique<S>();
            }};
}

class RealServer : public KernelTest, public testing::WithParamInterface<Subject> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        for (const std::string& program : GetParam().programs) {
            if (!std::filesystem::exists(program))
                GTEST_SKIP() << "there is no " << program << "; install " << GetParam().packages;
        }
        if (!IsSkipped())
            server_ = GetParam().start();
    }

    std::unique_ptr<Server> server_;
};

double nearest_rank(std::vector<uint64_t> values, double q) {
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
    return static_cast<double>(values.at(std::max<size_t>(rank, 1) - 1));
}

// The calls of one probe: all that were entered have returned, and there is none more.
void expect_calls(const json& hist, uint64_t count) {
    SCOPED_TRACE(hist["probe"]);
    EXPECT_EQ(hist["count"], count);
    for (const char* none : {"unwound", "open", "dropped"})
        EXPECT_EQ(hist[none], 0u) << none;
}

// All calls that were entered are accounted for, so are all samples, and nothing was lost.
void expect_account(const json& status) {
    const json& calls = status["calls"];
    EXPECT_EQ(calls["entries"].get<int64_t>(),
              calls["returns"].get<int64_t>() + calls["unwound"].get<int64_t>() +
                  calls["open"].get<int64_t>() + calls["dropped"].get<int64_t>());
    for (const auto& [cause, count] : status["lost"].items())
        EXPECT_EQ(count, 0u) << cause;
    uint64_t classed = 0;
    for (const auto& [name, samples] : status["classes"].items())
        classed += samples["samples"].get<uint64_t>();
    EXPECT_EQ(classed, status["samples"]);
}

// Percentiles beside those of the server's log, from both sides. It has whole microseconds, and the
// request or the inner function encloses what was logged; 1 % is what a histogram may be wrong.
void expect_percentiles(const Server& server, const json& request, const json& inner,
                        const std::vector<uint64_t>& logged, double loaded_ns) {
    // A request that loses the CPU beside the inner function is logged with that. Those are no more
    // than there are of requests that take a hundred times as long, a few in a hundred; so each
    // percentile is compared with one that is as much below it, and still one of slow requests
    // where it is one itself.
    for (const auto& [field, q, below] :
         {std::tuple{"p50", 0.5, 0.45}, {"p95", 0.95, 0.9}, {"p99", 0.99, 0.985}}) {
        SCOPED_TRACE(field);
        const double truth = nearest_rank(logged, q);
        EXPECT_LE(inner[field].get<double>(), (truth + 1000) * 1.01);
        EXPECT_GE(inner[field].get<double>(),
                  server.least_inner_ns(q, nearest_rank(logged, below) - 1000) * 0.99);
        if (server.request_includes_logged()) {
            EXPECT_GE(request[field].get<double>(), (truth - 1000) * 0.99);
        }
        EXPECT_GE(request[field].get<double>(), inner[field].get<double>() * 0.98);
    }
    // Every client makes one request after the other, so all requests take no longer than all
    // clients did; a request may end after its answer has come, hence 10 %.
    double least = 0;
    for (const json& bucket : request["buckets"])
        least += bucket[0].get<double>() * bucket[2].get<double>();
    EXPECT_LE(least, 1.1 * server.clients_at_once() * loaded_ns);
}

// The share of a class's samples with the cause on their stack.
double share_of_cause(const Server& server, const json& flame, const std::string& in_class) {
    uint64_t all = 0, with = 0;
    for (const json& stack : flame["stacks"]) {
        if (stack["class"] != in_class)
            continue;
        const uint64_t samples = stack["samples"];
        all += samples;
        for (const json& function : stack["stack"]) {
            if (server.is_cause(function.get<std::string>())) {
                with += samples;
                break;
            }
        }
    }
    return all == 0 ? 0 : static_cast<double>(with) / static_cast<double>(all);
}

TEST_P(RealServer, IsTimedSampledAndSplitByACommandFile) {
    Observer observer(server_->pid(), {"-f", AUGER_SCRIPTS_DIR "/" + server_->script()});
    observer.wait_echo("ready");
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t asked = server_->load();
    const std::chrono::duration<double, std::nano> loaded =
        std::chrono::steady_clock::now() - begin;
    observer.wait_echo("ready");
    std::vector<uint64_t> logged = server_->logged_durations();
    EXPECT_EQ(server_->load(), asked);
    ASSERT_EQ(observer.wait_exit(), 0) << observer.errors();
    const std::vector<json> hists = observer.reports("hist");
    const std::vector<json> statuses = observer.reports("status");
    ASSERT_EQ(hists.size(), 2u);
    ASSERT_EQ(statuses.size(), 3u);
    const json &timed = statuses[0], &split = statuses[1], &edited = statuses[2];

    // Timed only: every request, and how long they took.
    EXPECT_EQ(logged.size(), asked);
    expect_calls(hists[0], asked + server_->extra_requests());
    expect_calls(hists[1], asked);
    expect_percentiles(*server_, hists[0], hists[1], logged, loaded.count());
    for (const json& status : statuses)
        expect_account(status);

    // Sampled and split: the requests that are slow are so for the known reason.
    EXPECT_EQ(split["samples"].get<uint64_t>() + split["filtered"].get<uint64_t>(), split["ticks"]);
    for (const char* name : {"slow", "fast", "outside"})
        EXPECT_GT(split["classes"][name]["samples"], 20u) << name;
    EXPECT_EQ(split["classes"]["open"]["samples"], 0u);
    const json flame = observer.reports("flame").at(0);
    EXPECT_GT(share_of_cause(*server_, flame, "slow"), 0.5);
    // Not by how much: where CPUs are short, statements without the cause are among the slow ones,
    // since they waited for one.
    EXPECT_LT(share_of_cause(*server_, flame, "fast"), share_of_cause(*server_, flame, "slow"));
    EXPECT_EQ(observer.reports("diff").at(0)["first"]["class"], "slow");

    // Slow calls come from many threads.
    std::set<uint32_t> threads;
    const std::vector<json> calls = observer.reports("calls");
    for (const json& call : calls)
        threads.insert(call["tid"].get<uint32_t>());
    EXPECT_GE(threads.size(), 2u);

    // An edit takes nothing away: neither links nor counts, only the classes change.
    EXPECT_EQ(edited["links"], split["links"]);
    EXPECT_EQ(edited["calls"], split["calls"]);
    EXPECT_EQ(edited["samples"], split["samples"]);
    EXPECT_LT(edited["classes"]["slow"]["samples"], split["classes"]["slow"]["samples"]);
    EXPECT_EQ(edited["classes"]["outside"], split["classes"]["outside"]);
    const std::set<uint32_t> links = split["links"], before = timed["links"];
    EXPECT_TRUE(std::includes(links.begin(), links.end(), before.begin(), before.end()));

    server_->expect_answer();
    EXPECT_EQ(server_->stop(), 0);
}

// In the midst of a load; the clients must not notice, and nothing of auger may be left.
TEST_P(RealServer, SurvivesThatAugerIsKilled) {
    Observer observer(server_->pid(), {"-e", "time " + server_->request(), "-e", "sample 999", "-e",
                                       "split " + server_->request() + " > p95", "-e", "echo ready",
                                       "-e", "wait until calls " + server_->request() + " >= 300",
                                       "-e", "echo midst", "-e", "wait 1h"});
    observer.wait_echo("ready");
    std::atomic<bool> killed{false};
    BpfObjects held;
    auto load = std::async(std::launch::async, [&] {
        do
            server_->load();
        while (!killed);
    });
    {
        // Also when the observer fails.
        const std::shared_ptr<void> end(nullptr, [&](void*) { killed = true; });
        observer.wait_echo("midst");
        held = observer.kill();
    }
    EXPECT_GE(held.links.size(), 4u);
    EXPECT_TRUE(held.wait_gone());
    EXPECT_NO_THROW(load.get());
    server_->expect_answer();
    EXPECT_EQ(server_->stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(Debian, RealServer,
                         testing::Values(subject<MariaDb>("mariadb"), subject<Apache>("apache")),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
