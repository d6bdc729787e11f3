// SPDX-License-Identifier: GPL-3.0-or-later
// For the tests of recordings that follow each other: a session of a machine, as its recorders see
// it, second by second, whose stream is written down whole, too.
#pragma once

#include "loader/recording/recorders.h"
#include "loader/recording/recording_writer.h"
#include "loader/stream/tee.h"
#include "tests/unit/loader_recording_stream.h"
#include "tests/unit/synthetic_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

namespace auger {

class RecordedSession {
  public:
    static constexpr uint64_t second = 1'000'000'000;
    static constexpr uint64_t begin_ns = 1'000 * second;

    explicit RecordedSession(const std::string& machine = "web-1",
                             uint64_t boot_ns = 1'700'000'000 * second, uint64_t session = 7)
        : tee_(all), recorders(tee_, session), random_(session) {
        tee_.on_machine(MachineId{}, {machine, boot_ns});
        stream = std::make_unique<SyntheticStream>(tee_);
        handle = stream->probe(1, "handle");
        recv = stream->probe(2, "recv");
        tee_.on_time(now);
    }

    void record(const std::string& folder, uint64_t every = 10 * second, size_t keep = 1'000) {
        const auto begun = recorders.record_intervals({folder, every, keep}, now);
        ASSERT_TRUE(begun) << begun.error().message();
    }
    // Calls of a third of a second, so that some span two intervals, with samples, counters and the
    // account; `recv` is called in the first half of each minute.
    void run(uint64_t seconds) {
        for (const uint64_t until = now + seconds * second; now < until;) {
            const uint64_t began = now;
            const CallKey call = stream->call(handle, began + 1);
            for (int i = 1; i <= 3; i++) {
                now = began + i * second / 10;
                stream->sample(now, 100 + static_cast<uint32_t>(calls % 3),
                               stream->stack({"main", "handle", fmt::format("part{}", calls % 5)}),
                               {call}, second / 10);
                tee_.on_time(now);
            }
            now = began + second / 3;
            stream->end(100 + static_cast<uint32_t>(calls % 3), call, second / 3 - 1);
            stream->stats(now, handle, {second / 3 - 1 + random_() % 1'000});
            if ((now - begin_ns) / second % 60 < 30)
                stream->stats(now, recv, {1'000});
            if (calls % 3 == 0)
                stream->ledger(now, 3, 2);
            calls++;
            tee_.on_time(now);
        }
    }
    void stop() {
        const auto ended = recorders.record_intervals({}, now);
        EXPECT_TRUE(ended) << ended.error().message();
    }
    EventSink& sink() { return tee_; }

    Transcript all;

  private:
    Tee tee_;

  public:
    Recorders recorders;
    std::unique_ptr<SyntheticStream> stream;
    SpecId handle{}, recv{};
    uint64_t now = begin_ns;
    uint64_t calls = 0;

  private:
    std::mt19937_64 random_;
};

} // namespace auger
