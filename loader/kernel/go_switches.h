// SPDX-License-Identifier: GPL-3.0-or-later
// GoSwitches: probes where Go's runtime makes goroutines, takes them off threads, puts them on
// again and ends them: in the files that have timed functions and, while there are exchanges, in
// all Go programs of the target. They cost every goroutine, timed or not, so they are there only
// while waits are sampled, and go by themselves where goroutines switch too often.
#pragma once

#include "loader/kernel/place_group.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/target_view.h"
#include "loader/probes/go_places.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace auger {

class GoSwitches {
  public:
    // More of the target's CPU time than this is too much.
    static constexpr double most_share = 0.05;

    GoSwitches(Programs& programs, EventSink& sink) : programs_(programs), sink_(sink) {}
    ~GoSwitches();

    // A function of the module is about to be timed. `request`: how probes are attached. What fails
    // is told, and then it is not known how long goroutines are parked.
    void add(const TargetModule& module, const TargetView& view, const GoPlaces& places,
             AttachmentRequest request);
    // A program that may answer exchanges, which are wanted: likewise, but one that cannot be
    // probed, which is told, is left out. Whether it is there.
    bool add_program(const TargetModule& module, const TargetView& view, const GoPlaces& places,
                     AttachmentRequest request);
    // Files in which nothing is timed any more.
    void remove_unless(const std::function<bool(FileIdentity)>& is_timed);

    // Waits are sampled, or no longer.
    void set_wanted(bool wanted, const TargetView& view);
    // ... and do not switch too often.
    bool is_wanted() const { return wanted_ && !too_often_; }
    // These are as those of LiveProbes.
    void update(const TargetView& view);
    void forget_process(pid_t pid);
    void leave_others(const TargetView& view);
    void forget_withdrawn();
    void withdraw(FileIdentity file);
    void add_link_ids(std::vector<uint64_t>& ids) const;

    // How often goroutines switched in a span of time, and what watching that cost: the target's,
    // and those of other processes (Programs::GoroutineSwitches).
    struct Cost {
        uint64_t switches = 0, ns = 0;
        uint64_t of_others = 0, of_others_ns = 0;
    };
    // The target had so much CPU time meanwhile. What others had nobody knows: they may lose that
    // share of one CPU.
    void judge(const Cost& cost, uint64_t target_ns, uint64_t span_ns);
    LedgerEvent::Goroutines state() const;

  private:
    bool is_on() const;
    bool knows(FileIdentity file) const;
    // Nothing: it is not understood, which is told.
    std::optional<PlaceGroup> places_in(const TargetModule& module, const TargetView& view,
                                        const GoPlaces& places, AttachmentRequest request);
    void begin(const TargetView& view);
    void end();
    void begin_anew();
    Result<void> attach_all(const TargetView& view);
    void give_up(const Error& error);

    Programs& programs_;
    EventSink& sink_;
    std::vector<PlaceGroup> files_; // attached while it is on
    bool wanted_ = false;
    bool too_often_ = false;
    uint32_t epochs_ = 0;
};

} // namespace auger
