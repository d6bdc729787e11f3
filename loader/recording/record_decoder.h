// SPDX-License-Identifier: GPL-3.0-or-later
// RecordDecoder: the records of a block back into events. It knows how many of each thing are
// defined, and lets no record pass that names something else or is out of bounds.
#pragma once

#include "loader/base/bytes.h"
#include "loader/recording/format.h"
#include "loader/recording/recording_index.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace auger {

// How much of a stream went by.
struct StreamSpan {
    uint64_t first_ns = 0; // earliest and latest time of an event; both 0 when there was none
    uint64_t last_ns = 0;
    uint64_t events = 0; // all records but definitions and on_time
    bool timed = false;  // an event with a time has been seen
};

class RecordDecoder {
  public:
    explicit RecordDecoder(uint32_t version = recording::version) : version_(version) {}

    // Of records that were encoded by this process, in any order: definitions come as often as they
    // are wanted, and name what came elsewhere.
    static RecordDecoder of_own_records();

    // The records that follow; `block` must stay where it is until they are decoded.
    void start_block(std::string_view block);

    // Not all blocks are here: the end mark counts more events than come.
    void pass_over() { passed_over_ = true; }

    enum class Step {
        delivered, // a record went to the sink
        later,     // the next record's time is beyond the limit; nothing was consumed
        block_end, // this block has no more records
        end,       // the end mark
        damaged,   // see problem()
    };
    Step step(EventSink& sink, uint64_t until_ns);

    // Of the record that was `later`.
    uint64_t next_ns() const { return next_ns_; }
    const std::string& problem() const { return problem_; }
    const StreamSpan& span() const { return span_; }
    // Of the present block.
    const StreamSpan& block_span() const { return block_span_; }
    // As far as it was told.
    const SeriesInfo& series() const { return series_; }

  private:
    uint64_t time();
    std::string_view text();
    Threshold threshold();
    CallKey call(uint64_t time_ns);
    CallEndEvent call_end(uint64_t time_ns);
    CallConditions conditions();
    std::vector<Clause> clauses(size_t terms);
    // Fields that format 2 did not have are then as if nobody had asked for them.
    bool has_marks() const { return version_ >= 3; }
    bool has_machine() const { return version_ >= 4; }
    bool has_overhead() const { return version_ >= 5; }
    bool has_spans() const { return version_ >= 6; }
    bool has_exchanges() const { return version_ >= 7; }
    bool has_parks() const { return version_ >= 7; }
    bool has_series() const { return version_ >= 8; }
    bool has_containers() const { return version_ >= 9; }
    bool has_nested() const { return version_ >= 10; }
    bool has_kernel_threads() const { return version_ >= 11; }
    // An id that must have been defined, out of `count`.
    template <typename IdType>
    IdType defined(size_t count) {
        const uint32_t value = in_.varint32();
        if (value >= count)
            in_.fail();
        return IdType{value};
    }
    bool define(uint32_t id, size_t& count);
    bool define_again(uint32_t id, size_t& count);
    void seen(uint64_t time_ns);

    void definition(uint64_t kind, EventSink& sink);
    void event(uint64_t kind, uint64_t time_ns, EventSink& sink);
    void machine(EventSink& sink);
    void define_series();
    void module(EventSink& sink);
    void location(EventSink& sink);
    void frames(EventSink& sink);
    void stack(EventSink& sink);
    void thread(EventSink& sink);
    void spec(EventSink& sink);
    void probe(EventSink& sink);
    void split(EventSink& sink);
    void only(EventSink& sink);
    void label(EventSink& sink);
    void sample(uint64_t time_ns, EventSink& sink);
    void slow_call(uint64_t time_ns, EventSink& sink);
    void call_parts(uint64_t time_ns, EventSink& sink);
    void stats(uint64_t time_ns, EventSink& sink);
    void ledger(uint64_t time_ns, EventSink& sink);
    Overhead overhead();

    uint32_t version_;
    ByteReader in_;
    uint64_t last_time_ = 0; // of this block, for the differences
    uint64_t clock_ = 0;     // the last on_time
    uint64_t next_ns_ = 0;
    bool passed_over_ = false;
    bool own_ = false; // as of_own_records()
    StreamSpan span_, block_span_;
    std::string problem_;
    SeriesInfo series_;
    size_t modules_ = 0, locations_ = 0, stacks_ = 0, threads_ = 0, specs_ = 0, labels_ = 0;
    std::unordered_set<ProbeId> probes_;
    // Reused from record to record.
    std::vector<Frame> frame_buffer_;
    std::vector<LocationId> stack_buffer_;
    std::vector<CallKey> call_buffer_;
    std::vector<CallPart> part_buffer_;
    StatsEvent stats_buffer_;
};

} // namespace auger
