// SPDX-License-Identifier: GPL-3.0-or-later
// `only` and a rate raised inside a gate: what is kept, what is not, and that both add up.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/kernel/source_lines.h"

#include <gmock/gmock.h>

#include <fstream>
#include <numeric>

namespace auger::test {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr Threshold fixed(uint64_t ns) {
    return {Threshold::Kind::fixed, ns, 0};
}

GateTerm call_term(ProbeId probe, Threshold older) {
    return {GateTerm::Kind::call, probe, older};
}

GateTerm comm_term(const std::string& comm) {
    return {GateTerm::Kind::comm, {}, {}, 0, comm};
}

OnlyInfo only(std::vector<GateTerm> terms, std::vector<Clause> clauses) {
    OnlyInfo info;
    info.text = "a gate";
    info.gate = {std::move(terms), std::move(clauses)};
    return info;
}

// The age of the outermost call around a stored sample; nothing outside of any.
std::optional<uint64_t> age_at(const Model& model, size_t sample) {
    CallIndex at = model.samples().calls()[sample];
    if (at == no_call)
        return {};
    while (model.calls()[at].parent != no_call)
        at = model.calls()[at].parent;
    return model.samples().times()[sample] - model.calls()[at].start_ns;
}

std::string comm_of(const Model& model, size_t sample) {
    return model.symbols().thread(model.samples().threads()[sample]).comm;
}

class Gates : public KernelTest {
  protected:
    void start() {
        service_ = std::make_unique<Program>(
            "demo_service",
            std::vector<std::string>{"--calls", "2500", "--rate", "1000", "--wait"});
        service_->wait_ready();
        session_ = std::make_unique<Session>();
        session_->observe(service_->pid());
        handle_ = session_->time("handle_request");
    }
    void finish() {
        service_->go();
        session_->pump_to_end();
        EXPECT_TRUE(service_->account()["ok"].get<bool>());
        session_->expect_samples_add_up();
    }
    const Model& model() { return session_->model(); }

    std::unique_ptr<Program> service_;
    std::unique_ptr<Session> session_;
    ProbeId handle_;
};

TEST_F(Gates, OnlyOldCallsAreSampled) {
    start();
    session_->sample(1'999);
    must(session_->backend().set_only(only({call_term(handle_, fixed(ms))}, {{{0}, {}}})));
    finish();
    ASSERT_GT(model().samples().size(), 50u);
    for (size_t i = 0; i < model().samples().size(); i++) {
        const auto age = age_at(model(), i);
        ASSERT_TRUE(age);
        // The sample's time is taken a little later than the gate's.
        EXPECT_GT(*age, ms);
    }
    EXPECT_GT(model().ledger().gated, model().samples().size());
}

TEST_F(Gates, TheOppositeIsEverythingElse) {
    start();
    session_->sample(1'999);
    must(session_->backend().set_only(only({call_term(handle_, fixed(ms))}, {{{}, {0}}})));
    finish();
    ASSERT_GT(model().samples().size(), 50u);
    for (size_t i = 0; i < model().samples().size(); i++) {
        // A sample may wait for its turn to be taken.
        EXPECT_LT(age_at(model(), i).value_or(0), ms + ms / 2);
    }
    EXPECT_GT(model().ledger().gated, 50u);
}

TEST_F(Gates, TermsCombine) {
    start();
    session_->sample(1'999);
    // (worker-0 in a call of handle_request) or a thread named otherwise than a worker
    must(session_->backend().set_only(
        only({comm_term("worker-0"), call_term(handle_, {}), comm_term("client-0")},
             {{{0, 1}, {}}, {{2}, {}}})));
    finish();
    size_t workers = 0, clients = 0;
    for (size_t i = 0; i < model().samples().size(); i++) {
        const std::string comm = comm_of(model(), i);
        EXPECT_TRUE(comm != "worker-0" || age_at(model(), i));
        workers += comm == "worker-0";
        clients += comm == "client-0";
    }
    EXPECT_EQ(workers + clients, model().samples().size());
    EXPECT_GT(workers, 20u);
    EXPECT_GT(clients, 0u);
}

TEST_F(Gates, EditsWhileCallsRunKeepTheCountsAndTheProbes) {
    start();
    session_->sample(999);
    const auto links = session_->backend().links();
    service_->go();
    for (int i = 0; i < 25; i++) {
        OnlyInfo edit =
            only({call_term(handle_, fixed((i % 5) * ms)), comm_term("worker-1")}, {{{0}, {1}}});
        must(session_->backend().set_only(i % 4 ? edit : OnlyInfo{}));
        const uint64_t before = session_->calls(handle_).entries;
        ASSERT_TRUE(
            session_->pump_until([&] { return session_->calls(handle_).entries > before + 10; }));
        EXPECT_EQ(session_->backend().links(), links);
    }
    must(session_->backend().set_only({}));
    session_->pump_to_end();
    session_->expect_samples_add_up();
    EXPECT_EQ(session_->calls(handle_).returns, service_->account()["calls"].get<uint64_t>());
}

// p95 of the calls themselves: closed until it is known, then open for about their excess.
TEST_F(Gates, APercentileOpensWhenItIsKnown) {
    start();
    session_->sample(1'999);
    must(session_->backend().set_only(
        only({call_term(handle_, {Threshold::Kind::percentile, 0, 90})}, {{{0}, {}}})));
    finish();
    ASSERT_GT(model().samples().size(), 30u);
    const double p90 = model().probe_statistics(handle_).quantile(0.9);
    std::vector<uint64_t> ages;
    for (size_t i = 0; i < model().samples().size(); i++)
        ages.push_back(age_at(model(), i).value_or(0));
    std::sort(ages.begin(), ages.end());
    // It moved on the way; most samples came when it was near its last value.
    EXPECT_GT(static_cast<double>(ages[ages.size() / 4]), p90 * 0.7);
}

TEST_F(Gates, ARaisedRateAppliesInsideAndTheBaseRateOutside) {
    start();
    SamplingSettings settings{199, false};
    settings.raised_hz = 3'980;
    settings.raised = {{call_term(handle_, fixed(ms))}, {{{0}, {}}}};
    must(session_->backend().set_sampling(settings));
    finish();
    const auto& log = session_->log.samples;
    const uint64_t inside_weight = 1'000'000'000 / 3'980, outside_weight = 20 * inside_weight;
    size_t inside = 0, outside = 0;
    for (size_t i = 0; i < log.size(); i++) {
        const bool is_inside = age_at(model(), i).value_or(0) > ms;
        (is_inside ? inside : outside)++;
        EXPECT_NEAR(static_cast<double>(log[i].weight_ns),
                    static_cast<double>(is_inside ? inside_weight : outside_weight), 40);
    }
    EXPECT_GT(inside, 10 * outside / 10);
    EXPECT_GT(outside, 10u);
    // Both in one unit: together they are the time on the CPU.
    const double all =
        std::accumulate(log.begin(), log.end(), 0.0, [](double sum, const SampleEvent& sample) {
            return sum + static_cast<double>(sample.weight_ns);
        });
    const auto on_cpu = static_cast<double>(model().ledger().on_cpu_ns);
    EXPECT_NEAR(all / on_cpu, 1, 4 / std::sqrt(static_cast<double>(outside)));
}

TEST_F(Gates, ASlowCallIsJudgedWithTheCallsAroundIt) {
    Program program("drilldown", {"--calls", "300", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    const ProbeId handle = session.time("handle");
    const ProbeId extra =
        session.time("recv@" + marked_line("drilldown.c", "RECV extra"), fixed(1));
    // The server sleeps for 4 ms before late answers; nothing else takes nearly as long.
    must(session.backend().set_only(only({call_term(handle, fixed(3 * ms))}, {{{0}, {}}})));
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_EQ(session.calls(extra).returns, account["recv_extra"].get<uint64_t>());
    const uint64_t late = account["recv_amount_late"];
    EXPECT_GE(session.log.slow_calls.size(), late);
    EXPECT_LE(session.log.slow_calls.size(), late + late / 4 + 3); // a busy machine delays others
    EXPECT_EQ(session.log.slow_calls.size() + session.model().ledger().gated_slow_calls +
                  session.lost("slow calls: rate limit"),
              account["recv_extra"].get<uint64_t>());
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        ASSERT_EQ(call.enclosing.size(), 1u);
        EXPECT_EQ(session.model().specs()[call.enclosing[0].spec.index()].probe, handle);
        EXPECT_GT(call.end.time_ns - call.enclosing[0].start_ns, 3 * ms);
    }
}

TEST_F(Gates, BadOnesAreRefusedAndChangeNothing) {
    start();
    must(session_->backend().set_only(only({comm_term("worker-0")}, {{{0}, {}}})));
    EXPECT_FALSE(session_->backend().set_only(only({call_term(ProbeId{99}, {})}, {{{0}, {}}})));
    EXPECT_FALSE(session_->backend().set_only(
        only({comm_term("a name of more than 15 bytes")}, {{{0}, {}}})));
    EXPECT_FALSE(session_->backend().set_only(
        only(std::vector<GateTerm>(WIRE_MAX_GATE_TERMS + 1, comm_term("a")), {{{0}, {}}})));
    session_->sample(999);
    finish();
    for (size_t i = 0; i < model().samples().size(); i++)
        EXPECT_EQ(comm_of(model(), i), "worker-0");
    EXPECT_GT(model().samples().size(), 10u);
}

} // namespace
} // namespace auger::test
