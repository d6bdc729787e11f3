// SPDX-License-Identifier: GPL-3.0-or-later
// Two hosts' histograms in Prometheus: what it makes of them together is what they are together.
#include "tests/cli/live_auger.h"
#include "tests/real/prometheus.h"
#include "tests/support/wait.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

namespace auger::test {
namespace {

constexpr int calls = 1500; // of each host's service

// A host: a service, and auger beside it, which serves its metrics.
class ScrapedHost {
  public:
    ScrapedHost(int port, const std::string& token_file)
        : auger_({"-p", std::to_string(service_.pid())}) {
        service_.wait_ready();
        auger_.run(
            {"time handle_request", fmt::format("serve 127.0.0.1:{} token {}", port, token_file)});
    }
    void begin() { service_.go(); }
    // When all is known.
    json hist() {
        auger_.run({fmt::format("wait until calls handle_request >= {} for 60s", calls)});
        return auger_.ask("hist handle_request");
    }

  private:
    Program service_{"demo_service", {"--calls", std::to_string(calls), "--wait", "--linger"}};
    LiveAuger auger_;
};

struct Bucket {
    double low = 0, high = 0; // nanoseconds
};

// Of both hosts' calls.
class Histogram {
  public:
    void add(const json& hist) {
        for (const json& bucket : hist["buckets"])
            counts_[{bucket[0], bucket[1]}] += bucket[2].get<double>();
    }
    double count() const {
        double sum = 0;
        for (const auto& [bucket, count] : counts_)
            sum += count;
        return sum;
    }
    Bucket of(double quantile) const {
        double seen = 0;
        for (const auto& [bucket, count] : counts_)
            if ((seen += count) >= quantile * this->count())
                return {bucket.first, bucket.second};
        return {};
    }

  private:
    std::map<std::pair<double, double>, double> counts_;
};

// Bounds are 2^k and 1.5 times 2^k ns.
Bucket classic(const Bucket& one) {
    const double middle = (one.low + one.high) / 2,
                 power = std::exp2(std::floor(std::log2(middle)));
    return middle < 1.5 * power ? Bucket{power, 1.5 * power} : Bucket{1.5 * power, 2 * power};
}

// Of 2^(1/8) each, and what is less than 1 % away from a bound may be counted beyond it.
Bucket native(const Bucket& one) {
    const double width = std::exp2(1.0 / 8) * 1.01;
    return {one.low / width, one.high * width};
}

class PrometheusTest : public KernelTest, public testing::WithParamInterface<bool> {};

TEST_P(PrometheusTest, QuantilesOfTwoHostsAreThoseOfAllTheirCalls) {
    if (!std::filesystem::exists(Prometheus::programs[0]))
        GTEST_SKIP() << "install " << Prometheus::packages;
    TemporaryFolder folder;
    const std::string token_file = folder.path("token");
    const std::array ports = {free_port(), free_port()};
    std::array<std::unique_ptr<ScrapedHost>, 2> hosts;
    for (size_t i = 0; i < hosts.size(); i++)
        hosts[i] = std::make_unique<ScrapedHost>(ports[i], token_file);
    Prometheus prometheus({ports.begin(), ports.end()}, token_file, GetParam());
    Histogram all;
    for (const auto& host : hosts)
        host->begin();
    for (const auto& host : hosts)
        all.add(host->hist());
    EXPECT_EQ(all.count(), 2 * calls);

    const std::string of_probe = R"({probe="handle_request"})";
    const std::string count =
        GetParam() ? "histogram_count(sum(auger_call_duration_seconds" + of_probe + "))"
                   : "sum(auger_call_duration_seconds_count" + of_probe + ")";
    // Later a host may be late once, and then it is out until the next scrape.
    Prometheus::Time time;
    EXPECT_TRUE(wait_until([&] {
        time = Prometheus::settled();
        return prometheus.query(count, time) == 2 * calls && prometheus.query("sum(up)", time) == 2;
    })) << prometheus.query(count, time);
    for (const double quantile : {0.5, 0.9, 0.95, 0.99}) {
        const double seconds =
            prometheus.query(GetParam() ? fmt::format("histogram_quantile({}, sum by (probe) "
                                                      "(auger_call_duration_seconds{}))",
                                                      quantile, of_probe)
                                        : fmt::format("histogram_quantile({}, sum by (le, probe) "
                                                      "(auger_call_duration_seconds_bucket{}))",
                                                      quantile, of_probe),
                             time);
        const Bucket own = all.of(quantile), expected = GetParam() ? native(own) : classic(own);
        EXPECT_GE(seconds * 1e9, expected.low * (1 - 1e-9)) << quantile;
        EXPECT_LE(seconds * 1e9, expected.high * (1 + 1e-9)) << quantile;
    }
    EXPECT_EQ(prometheus.stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(Histograms, PrometheusTest, testing::Bool(), [](const auto& info) {
    return std::string(info.param ? "Native" : "Classic");
});

} // namespace
} // namespace auger::test
