// SPDX-License-Identifier: GPL-3.0-or-later
// The split against the demo service's own record of every request: which samples are in slow
// requests, how many requests there were, and how long they took.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "views/model/classifier.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

namespace auger::test {
namespace {

struct Request {
    uint64_t start, end;               // around the call
    uint64_t inside_start, inside_end; // from its first to its last statement
    std::string kind;
    uint64_t outside_ns() const { return end - start; }
    uint64_t inside_ns() const { return inside_end - inside_start; }
};

// By thread, in order of start.
std::map<uint32_t, std::vector<Request>> read_truth(const std::string& path) {
    std::map<uint32_t, std::vector<Request>> requests;
    std::ifstream file(path);
    Request request;
    uint32_t tid = 0;
    while (file >> request.start >> request.end >> tid >> request.kind >> request.inside_start >>
           request.inside_end)
        requests[tid].push_back(request);
    return requests;
}

const Request* request_at(const std::vector<Request>& requests, uint64_t time) {
    auto after = std::upper_bound(requests.begin(), requests.end(), time,
                                  [](uint64_t t, const Request& r) { return t < r.inside_start; });
    if (after == requests.begin() || time > std::prev(after)->inside_end)
        return nullptr;
    return &*std::prev(after);
}

uint64_t nearest_rank(std::vector<uint64_t> values, double q) {
    std::sort(values.begin(), values.end());
    auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
    return values.at(std::max<size_t>(rank, 1) - 1);
}

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
        requests_ = read_truth(truth_path_);
        session_->expect_samples_add_up();
    }

    // Counts samples inside of requests by what is true of these and by their class. A request is
    // truly slow when even its inside is longer than the threshold, truly fast when even its
    // outside is shorter: on a busy machine any request may become slow, whatever it does.
    void expect_classes_are_true(uint64_t threshold_ns) {
        const Model& model = session_->model();
        Classifier classify(model);
        size_t slow = 0, slow_as_slow = 0, fast = 0, fast_as_slow = 0, outside = 0,
               outside_as_other = 0, open = 0;
        const SampleStore& samples = model.samples();
        for (size_t i = 0; i < samples.size(); i++) {
            uint64_t time = samples.times()[i];
            const ThreadInfo& thread = model.symbols().thread(samples.threads()[i]);
            auto requests = requests_.find(thread.tid);
            CallClass found = classify(samples.calls()[i], time);
            open += found == CallClass::open;
            if (requests == requests_.end()) {
                outside++;
                outside_as_other += found != CallClass::outside;
                continue;
            }
            const Request* request = request_at(requests->second, time);
            if (!request)
                continue; // outside of all, or at an edge
            if (request->inside_ns() > threshold_ns) {
                slow++;
                slow_as_slow += found == CallClass::slow;
            } else if (request->outside_ns() <= threshold_ns) {
                fast++;
                fast_as_slow += found == CallClass::slow;
            }
        }
        ASSERT_GT(slow, 50u);
        ASSERT_GT(fast, 100u);
        ASSERT_GT(outside, 10u);
        EXPECT_GE(static_cast<double>(slow_as_slow), 0.95 * static_cast<double>(slow));
        EXPECT_LE(static_cast<double>(fast_as_slow), 0.05 * static_cast<double>(fast));
        EXPECT_EQ(outside_as_other, 0u);
        EXPECT_EQ(open, 0u);
        RecordProperty("slow", std::to_string(slow_as_slow) + "/" + std::to_string(slow));
        RecordProperty("fast_as_slow", std::to_string(fast_as_slow) + "/" + std::to_string(fast));
    }

    std::vector<uint64_t> durations(uint64_t (Request::*of)() const) const {
        std::vector<uint64_t> all;
        for (const auto& [tid, requests] : requests_) {
            for (const Request& request : requests)
                all.push_back((request.*of)());
        }
        return all;
    }

    double share_beyond(uint64_t threshold_ns, uint64_t (Request::*of)() const) const {
        const std::vector<uint64_t> all = durations(of);
        const auto beyond =
            std::ranges::count_if(all, [&](uint64_t ns) { return ns > threshold_ns; });
        return static_cast<double>(beyond) / static_cast<double>(all.size());
    }

    static constexpr Threshold fixed_2ms = {Threshold::Kind::fixed, 2'000'000, 0};
    std::string truth_path_;
    std::unique_ptr<Session> session_;
    ProbeId probe_;
    nlohmann::json account_;
    std::map<uint32_t, std::vector<Request>> requests_;
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
