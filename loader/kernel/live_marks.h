// SPDX-License-Identifier: GPL-3.0-or-later
// LiveMarks: the yes-or-no facts that are watched of calls. Each has a bit of wire_call_end.marks;
// a line's is set by probes on every copy of the line, a predicate's by the call tracker.
#pragma once

#include "loader/kernel/hit_costs.h"
#include "loader/kernel/place_group.h"
#include "loader/stream/events.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class LiveMarks {
  public:
    LiveMarks(const Programs& programs, CodeReaders& readers, FileGuard& guard, EventSink& sink,
              AttachWay way)
        : programs_(programs), readers_(readers), guard_(guard), sink_(sink), way_(way) {}

    // Watches a line: `FILE:LINE`. Fails when it has no code (near lines), or WIRE_MAX_MARKS are
    // watched already. How many copies it has is told as a notice.
    Result<MarkInfo> watch_line(const std::string& line, const TargetView& view);
    // A bit for a fact that the tracker finds out.
    Result<MarkInfo> watch(const std::string& text);
    void release(uint32_t bit);

    // The target has new processes or modules. Problems become notices.
    void update(const TargetView& view, uint64_t now_ns);
    void forget_process(pid_t pid);
    // As LiveProbes::leave_others.
    void leave_others(const TargetView& view);
    // Probes in files that were withdrawn are no more; update() makes new ones.
    void forget_withdrawn();
    // As LiveProbes::withdraw.
    void withdraw(FileIdentity file, const std::string& why, uint64_t now_ns);
    void add_link_ids(std::vector<uint64_t>& ids) const;
    bool empty() const;
    // How often the lines were reached since the beginning, and what that has cost.
    struct Hits {
        uint64_t hits = 0;
        uint64_t cost_ns = 0;
    };
    Hits hits(const HitCosts& costs) const;

  private:
    struct Mark {
        MarkInfo info;
        std::string line; // empty: a predicate's
        std::vector<PlaceGroup> groups;
        std::vector<ProbeCost> costs; // of its copies
        uint64_t hits_before = 0;     // those of marks that had the bit before
    };
    Result<uint32_t> free_bit();
    Result<size_t> attach_new(Mark& mark, const TargetView& view, bool explain);

    const Programs& programs_;
    CodeReaders& readers_;
    FileGuard& guard_;
    EventSink& sink_;
    AttachWay way_;
    std::array<std::optional<Mark>, WIRE_MAX_MARKS> marks_;
    uint32_t next_bit_ = 0; // where the search for a free one begins: recent ones rest longest
};

} // namespace auger
