// SPDX-License-Identifier: GPL-3.0-or-later
// FlightRecorder: keeps the last seconds of the event stream in memory, encoded as in a recording,
// so that what led to something can be written down when it has happened. Definitions are not kept
// here: the DefinitionLog has them, and ids are not given anew while the model may still hold what
// they belong to.
#pragma once

#include "loader/recording/record_encoder.h"
#include "loader/recording/recording_writer.h"
#include "loader/stream/quiet_sink.h"

#include <deque>
#include <string>

namespace auger {

class FlightRecorder final : public QuietSink {
  public:
    static constexpr size_t most_bytes = 64 << 20; // the oldest events go first

    explicit FlightRecorder(uint64_t span_ns) : span_ns_(span_ns) {}

    // Everything that is kept: the last span, and up to a block's time more.
    void write(RecordingWriter& writer) const;
    size_t bytes() const { return bytes_ + encoder_.bytes().size(); }

    void on_sample(const SampleEvent& sample) override {
        put(sample.time_ns, [&] { encoder_.on_sample(sample); });
    }
    void on_call_end(const CallEndEvent& end) override {
        put(end.time_ns, [&] { encoder_.on_call_end(end); });
    }
    void on_slow_call(const SlowCallEvent& call) override {
        put(call.end.time_ns, [&] { encoder_.on_slow_call(call); });
    }
    void on_call_parts(const CallPartsEvent& call) override {
        put(call.end.time_ns, [&] { encoder_.on_call_parts(call); });
    }
    void on_stats(const StatsEvent& stats) override {
        put(stats.time_ns, [&] { encoder_.on_stats(stats); });
    }
    void on_ledger(const LedgerEvent& ledger) override {
        put(ledger.time_ns, [&] { encoder_.on_ledger(ledger); });
    }
    void on_notice(uint64_t time_ns, const std::string& text) override {
        put(time_ns, [&] { encoder_.on_notice(time_ns, text); });
    }
    void on_time(uint64_t time_ns) override;

  private:
    struct Block {
        uint64_t first_ns, last_ns; // times of its events
        uint64_t events;
        std::string records;
    };

    template <typename Encode>
    void put(uint64_t time_ns, Encode encode) {
        encode();
        events_++;
        on_recorded(time_ns);
    }
    void on_recorded(uint64_t time_ns);

    uint64_t span_ns_;
    std::deque<Block> blocks_;
    size_t bytes_ = 0;                    // of blocks_
    RecordEncoder encoder_;               // the block that is being filled
    uint64_t events_ = 0;                 // in it
    uint64_t first_ns_ = 0, last_ns_ = 0; // of it; 0: empty
};

} // namespace auger
