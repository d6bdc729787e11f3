// SPDX-License-Identifier: GPL-3.0-or-later
// The split against the demo service's own record of every request: which samples are in slow
// requests, how many requests there were, and how long they took.
#include "tests/kernel/program.h"
#include "tests/kernel/service_truth.h"
#include "tests/kernel/session.h"
#include "views/model/classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace auger::test {
namespace {

class Split : public KernelTest {
  protected:
    Split() : truth_path_("/tmp/auger-test-truth-" + std::to_string(getpid())) {}
    ~Split() override { unlink(truth_path_.c_str()); }

    // Runs the service with handle_request timed, sampled and split.
    void run(WayOut way_out, uint32_t rate_hz) {
        Program service("demo_service",
                        {"--calls", "2500", "--rate", "600", "--truth", truth_path_, "--wait"});
        service.wait_ready();
        session_ = std::make_unique<Session>();
        session_->observe(service.pid());
        must(session_->backend().set_way_out(way_out));
        probe_ = session_->time("handle_request");
        session_->sample(rate_hz);
        must(session_->backend().set_split({true, probe_, fixed_2ms, false}));
        service.go();
        session_->pump_to_end();
        account_ = service.account();
        EXPECT_EQ(service.wait_exit(), 0);
        EXPECT_TRUE(account_["ok"].get<bool>()) << account_;
        requests_ = read_requests(truth_path_);
        session_->expect_samples_add_up();
    }

    // The class of every sample is the one that it has by the service's own record: slow in a
    // request of which even the inside is longer than the threshold, fast in one of which even the
    // outside is shorter, and outside between requests and in other threads. Of all others, at the
    // edges and in requests whose two durations lie on both sides of the threshold, any may be
    // true.
    void expect_classes_are_true(uint64_t threshold_ns) {
        const Model& model = session_->model();
        ASSERT_EQ(session_->lost("call ends: event ring full"), 0u);
        Classifier classify(model);
        const SampleStore& samples = model.samples();
        // What a sample costs is taken out of a call's duration, and the service knows nothing of
        // it.
        std::map<const Request*, uint64_t> sampled;
        std::vector<Moment> moments;
        for (size_t i = 0; i < samples.size(); i++) {
            const uint32_t tid = model.symbols().thread(samples.threads()[i]).tid;
            moments.push_back(moment_of(requests_, tid, samples.times()[i]));
            if (moments[i].place != Moment::Place::between)
                sampled[moments[i].request]++;
        }
        std::map<CallClass, size_t> checked;
        size_t edges = 0, near_threshold = 0;
        for (size_t i = 0; i < samples.size(); i++) {
            const Moment& moment = moments[i];
            CallClass truly = CallClass::outside;
            if (moment.place == Moment::Place::edge) {
                edges++;
                continue;
            }
            if (moment.place == Moment::Place::inside) {
                const Request& request = *moment.request;
                // No tick takes more than that out, however long the hypervisor held it up
                // (bpf/maps.h, LONGEST_OWN_NS). One more: of the tick that came when the call had
                // not quite begun or ended.
                const uint64_t corrected = (sampled[&request] + 1) * longest_tick_ns;
                if (request.inside_ns() > threshold_ns + corrected) {
                    truly = CallClass::slow;
                } else if (request.outside_ns() <= threshold_ns) {
                    truly = CallClass::fast;
                } else {
                    near_threshold++;
                    continue;
                }
            }
            checked[truly]++;
            ASSERT_EQ(to_string(classify(samples.calls()[i], samples.times()[i])), to_string(truly))
                << "sample " << i << " at " << samples.times()[i] << " in thread "
                << model.symbols().thread(samples.threads()[i]).comm;
        }
        EXPECT_GT(checked[CallClass::slow], 50u);
        EXPECT_GT(checked[CallClass::fast], 100u);
        EXPECT_GT(checked[CallClass::outside], 10u);
        // Edges are microseconds, requests hundreds of them.
        EXPECT_LT(edges, samples.size() / 4);
        RecordProperty("unsure", fmt::format("{} edges, {} near the threshold, of {}", edges,
                                             near_threshold, samples.size()));
    }

    std::vector<uint64_t> durations(uint64_t (Request::*of)() const) const {
        return durations_of(requests_, of);
    }

    double share_beyond(uint64_t threshold_ns, uint64_t (Request::*of)() const) const {
        const std::vector<uint64_t> all = durations(of);
        const auto beyond =
            std::ranges::count_if(all, [&](uint64_t ns) { return ns > threshold_ns; });
        return static_cast<double>(beyond) / static_cast<double>(all.size());
    }

    static constexpr uint64_t longest_tick_ns = 100'000;
    static constexpr Threshold fixed_2ms = {Threshold::Kind::fixed, 2'000'000, 0};
    std::string truth_path_;
    std::unique_ptr<Session> session_;
    ProbeId probe_;
    nlohmann::json account_;
    Requests requests_;
};

TEST_F(Split, ClassesSamplesAsTheServicesOwnRecordDoes) {
    run(WayOut::ret, 1'999);
    expect_classes_are_true(2'000'000);
    // The threshold is dragged: what was collected is classed anew, with the calls' own percentile.
    must(
        session_->backend().set_split({true, probe_, {Threshold::Kind::percentile, 0, 95}, false}));
    ThresholdState state = session_->model().split_state();
    ASSERT_EQ(state.kind, ThresholdState::Kind::following);
    // Its place among the calls, not its value: the percentile may lie where few calls do, and
    // there a few calls more make much of a difference in time. Chance alone: 0.0044 of 2,500
    // calls.
    EXPECT_GE(share_beyond(state.value_ns, &Request::outside_ns), 0.05 - 0.02);
    EXPECT_LE(share_beyond(state.value_ns, &Request::inside_ns), 0.05 + 0.02);
    expect_classes_are_true(state.value_ns);
}

TEST_F(Split, HoldsWithReturnProbesToo) {
    run(WayOut::trampoline, 999);
    expect_classes_are_true(2'000'000);
    Calls calls = session_->calls(probe_);
    EXPECT_EQ(calls.entries, account_["calls"].get<uint64_t>());
    EXPECT_EQ(calls.returns, calls.entries);
}

// Without sampling, whose cost is taken out of a call's duration but not of the service's record.
TEST_F(Split, CountsAndPercentilesAgreeWithTheServicesOwnRecord) {
    run(WayOut::ret, 0);
    Calls calls = session_->calls(probe_);
    EXPECT_EQ(calls.entries, account_["calls"].get<uint64_t>());
    EXPECT_EQ(calls.returns, calls.entries);
    auto inside = durations(&Request::inside_ns), outside = durations(&Request::outside_ns);
    EXPECT_EQ(inside.size(), calls.entries);
    CallStatistics statistics = session_->model().probe_statistics(probe_);
    for (double q : {0.5, 0.95, 0.99}) {
        SCOPED_TRACE(q);
        EXPECT_GE(statistics.quantile(q), static_cast<double>(nearest_rank(inside, q)) * 0.99);
        EXPECT_LE(statistics.quantile(q), static_cast<double>(nearest_rank(outside, q)) * 1.01);
    }
    EXPECT_GE(statistics.max_ns, nearest_rank(inside, 1));
    EXPECT_LE(statistics.max_ns, nearest_rank(outside, 1));
}

} // namespace
} // namespace auger::test
