// SPDX-License-Identifier: GPL-3.0-or-later
// FakePoster and ShippingTest: a shipper in a fake backend's time, and a receiver that the test
// plays.
#pragma once

#include "tests/support/temporary_folder.h"
#include "tests/unit/repl_fake_backend.h"

#include "loader/process/safe_open.h"
#include "repl/services/shipper.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace auger {

constexpr uint64_t ns(std::chrono::nanoseconds time) {
    return static_cast<uint64_t>(time.count());
}

// Answers as the test says, by the time that somebody asks.
class FakePoster final : public HttpPoster {
  public:
    struct Sent {
        HttpPost post;
        std::string body;
        HttpOutcome outcome;
    };
    struct Log {
        std::vector<Sent> sent;
        std::function<HttpOutcome(const HttpPost&)> reply = [](const HttpPost&) {
            return HttpOutcome{200};
        };
        std::string certificates;
    };

    explicit FakePoster(Log& log) : log_(log) {}
    Result<void> start(const HttpPost& post, UniqueFd body) override {
        log_.sent.push_back({post, *read_all(body.get(), SIZE_MAX), log_.reply(post)});
        outcome_ = log_.sent.back().outcome;
        return {};
    }
    std::optional<HttpOutcome> take() override { return std::exchange(outcome_, std::nullopt); }
    int wake_fd() const override { return -1; }

  private:
    Log& log_;
    std::optional<HttpOutcome> outcome_;
};

// A shipper whose time passes as tests say.
class ShippingTest : public testing::Test {
  protected:
    static constexpr uint64_t start_utc_ns = 1'795'303'200 * second_ns;
    uint64_t slept_ns = 0; // the machine has, so that the wall clock alone went on

    std::unique_ptr<Shipper> make_shipper() {
        return std::make_unique<Shipper>(
            backend, model,
            Shipper::Clocks{[this] { return start_utc_ns + slept_ns + backend.clock(); },
                            [this] { return backend.clock(); }},
            [this](const std::string& certificates) -> Result<std::unique_ptr<HttpPoster>> {
                log.certificates = certificates;
                return std::unique_ptr<HttpPoster>(std::make_unique<FakePoster>(log));
            });
    }
    Shipping shipping(const char* protocol = "pyroscope-ingest",
                      std::chrono::nanoseconds every = std::chrono::seconds(60)) const {
        Shipping settings;
        settings.protocol = find_receiver_protocol(protocol);
        settings.url = "http://receiver:4040";
        settings.every_ns = ns(every);
        settings.spool = folder.path("spool");
        settings.keep_ns = ns(std::chrono::hours(6));
        settings.bytes = 256 << 20;
        return settings;
    }
    // Samples come evenly, none of them at the begin or the end.
    void pass(std::chrono::nanoseconds time, uint64_t samples = 4) {
        for (uint64_t i = 1; i <= samples; i++)
            stream.sample(backend.clock() + ns(time) * (2 * i - 1) / (2 * samples), 1,
                          stream.stack({"main", "f" + std::to_string(i)}));
        (void)backend.poll(time, -1);
        work();
    }
    // Does all that is due; next to nothing of the backend's time passes.
    void work() {
        for (size_t sent = SIZE_MAX; sent != log.sent.size();) {
            sent = log.sent.size();
            shipper->work();
        }
        EXPECT_TRUE(shipper->status().adds_up());
    }
    // Until so many intervals have been written.
    bool written(uint64_t intervals) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (shipper->status().written.intervals < intervals) {
            if (std::chrono::steady_clock::now() > limit)
                return false;
            (void)backend.poll(std::chrono::nanoseconds(1), -1);
            shipper->work();
            std::vector<int> fds;
            shipper->add_wake_fds(fds);
            pollfd wake{fds.empty() ? -1 : fds[0], POLLIN, 0};
            poll(&wake, 1, 1);
        }
        work();
        return true;
    }
    // A minute's worth each.
    void write(size_t intervals) {
        for (size_t i = 0; i < intervals; i++) {
            const uint64_t before = shipper->status().written.intervals;
            pass(std::chrono::seconds(60));
            ASSERT_TRUE(written(before + 1));
        }
    }
    void be_down() {
        log.reply = [](const HttpPost&) { return HttpOutcome{.text = "connection refused"}; };
    }
    void be_up() {
        log.reply = [](const HttpPost&) { return HttpOutcome{200}; };
    }

    Model model{10'000, 100};
    FakeBackend backend{model};
    SyntheticStream stream{model};
    test::TemporaryFolder folder;
    FakePoster::Log log;
    std::unique_ptr<Shipper> shipper = make_shipper();
};

} // namespace auger
