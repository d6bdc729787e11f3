// SPDX-License-Identifier: GPL-3.0-or-later
// Event loops that ask another server for what each request needs: what they do when that has
// answered is in the exchange that asked, or in none.
#include "tests/kernel/sampled_server.h"
#include "tests/support/durations.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using Arguments = std::vector<std::string>;

class Upstreams : public ExchangeTest {
  protected:
    // Slow are those beyond 30 ms, for which only difficult ones wait.
    void sample(Arguments arguments) {
        arguments.insert(arguments.begin(), {"--calls", "300"});
        SampledServer server("upstreams", arguments, {}, 30 * ms);
        truth_ = server.truth();
        exchanges_ = server.exchanges();
        expect_served(exchanges_, truth_);
        light_ = server.classes_of("think");
        hard_ = server.classes_of("think_hard");
        auto before = server.classes_of("think_before");
        EXPECT_GE(hard_["all"], 100);
        EXPECT_GE(light_["all"], 50);
        EXPECT_GE(before["slow"] + before["fast"], 0.99 * before["all"]);
    }
    void expect_in_who_asked() {
        EXPECT_GE(hard_["slow"], 0.99 * hard_["all"]) << all();
        EXPECT_GE(light_["slow"] + light_["fast"], 0.99 * light_["all"]) << all();
        EXPECT_GE(exchanges_.span.attached, 0.99 * truth_["thinking_ns"].get<double>());
        expect_no_more_slow();
    }
    void expect_in_none_else() {
        EXPECT_LE(hard_["fast"], 0.01 * hard_["all"]) << all();
        expect_no_more_slow();
    }
    // Each light one thinks for as long as the others, so of its samples as many are slow as of
    // them; within three standard deviations of so many draws.
    void expect_no_more_slow() {
        const double slow = truth_["slow_light"].get<double>() /
                            (truth_["served"].get<double>() - truth_["difficult"].get<double>());
        EXPECT_LE(light_["slow"],
                  light_["all"] * (slow + 0.01) + 3 * std::sqrt(light_["all"] * (slow + 0.01)))
            << all();
    }
    std::string all() const {
        return testing::PrintToString(hard_) + testing::PrintToString(light_);
    }

    nlohmann::json truth_;
    CallStatistics exchanges_;
    std::map<std::string, double> light_, hard_; // samples upon the upstream's answer
};

TEST_F(Upstreams, AnswerWhoAsked) {
    sample({});
    expect_in_who_asked();
}

TEST_F(Upstreams, OnUnixSocketsAnswerWhoAsked) {
    const TemporaryFolder folder;
    sample({"--unix", folder.path("socket")});
    expect_in_who_asked();
}

TEST_F(Upstreams, ThatAreConnectedToForEachRequestAnswerWhoAsked) {
    sample({"--per-request"});
    expect_in_who_asked();
}

// Which of those that the loop has received it asks for is not known, where there are several.
TEST_F(Upstreams, ThatAreAskedAtTheEndOfATurnAnswerNobodyElse) {
    for (const Arguments& arguments : {Arguments{"--batch"}, {"--batch", "--shared"}}) {
        sample(arguments);
        expect_in_none_else();
        EXPECT_GE(light_["outside"], 0.5 * light_["all"]) << all(); // most turns have several
    }
}

// Whose answer it is that comes on a connection where several wait nobody knows.
TEST_F(Upstreams, ThatAllShareAnswerNobody) {
    sample({"--shared"});
    expect_in_none_else();
    EXPECT_GE(light_["outside"], 0.9 * light_["all"]) << all();
}

} // namespace
} // namespace auger::test
