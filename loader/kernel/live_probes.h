// SPDX-License-Identifier: GPL-3.0-or-later
// LiveProbes: the user's probes and what is attached for them. A probe is matched against the
// modules of the target when it is added, and again when the target maps or becomes something new;
// what is attached already stays as it is.
#pragma once

#include "loader/backend.h"
#include "loader/kernel/attachment.h"
#include "loader/kernel/features.h"
#include "loader/kernel/module_catalogue.h"
#include "loader/kernel/spec_table.h"
#include "loader/probes/probe_match.h"
#include "loader/stats/threshold_follower.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace auger {

// What the target is made of at this moment.
struct TargetView {
    std::vector<pid_t> pids;           // running ones
    std::vector<TargetModule> modules; // main programs first
    bool everything = false;           // -a: probes are never restricted to processes
    // False for a command that waits to be started: `modules` is what it will map, as far as known.
    bool started = true;
};

class LiveProbes {
  public:
    LiveProbes(Programs& programs, const Features& features, ModuleCatalogue& catalogue,
               EventSink& sink, AttachWay way);

    // Of probes added from now on.
    void set_way_out(WayOut way_out) { way_out_ = way_out; }

    Result<ProbeReport> add(const ProbeRequest& request, const TargetView& view);
    // `function` as a probe's text names it.
    static Result<CallSites> find_call_sites(const std::string& function, const TargetView& view);
    // Ends the probe; its statistics were read before. Unknown ids are an Error.
    Result<void> remove(ProbeId id);
    Result<void> set_slow(ProbeId id, const Threshold& threshold);

    // The target has new processes or modules: attaches what is missing. Problems become notices.
    void update(const TargetView& view, uint64_t now_ns);
    // Processes that ended need no attachment of their own any more.
    void forget_process(pid_t pid);
    bool empty() const { return probes_.empty(); }

    // Reads the counters, tells the sink, and moves thresholds after them.
    void read_statistics(uint64_t now_ns);

    std::optional<SpecId> find_spec(uint16_t slot, uint16_t generation) const {
        return specs_.find(slot, generation);
    }
    std::optional<ProbeId> probe_of(SpecId spec) const;
    // Where the function is that a spec times (of a call site: the one that is called).
    struct FunctionPlace {
        FileIdentity file;
        uint64_t address; // as linked
        // Of a call site: how far behind the return address its return is seen.
        uint64_t behind_return = 0; // bytes
    };
    const FunctionPlace* place_of(SpecId spec) const;
    uint64_t slow_threshold_ns(SpecId spec) const;
    std::vector<uint64_t> link_ids() const;

  private:
    struct Place {
        SpecId spec;
        PlaceMatch match;
        FileIdentity file;
        ExitWay exit;
        bool second = false; // has changed its way out; see WIRE_SPEC_SECOND
    };
    // The attachments of the functions of one file that share a way out. With a scope, each process
    // has one of its own.
    struct Group {
        FileIdentity file;
        AttachmentRequest request; // file_fd and pid are filled in for each attachment
        std::shared_ptr<const ElfFile> elf;
        bool per_process = false;
        std::vector<Attachment> attachments;
    };
    struct Probe {
        ProbeInfo info;
        ProbePattern pattern;
        WayOut way_out;
        ThresholdFollower follower;
        std::vector<Place> places;
        std::vector<Group> groups;
        bool reruns = false;
    };

    struct Choice {
        ExitWay exit;
        std::string why; // not empty when it is worth telling
    };
    Choice choose_exit(const PlaceMatch& match, WayOut way_out, const UnwindProof& proof) const;
    UnwindProof prove(const TargetView& view) const;
    // Attaches the functions of `matches` that the probe does not have yet. All or nothing.
    Result<void> attach_new(Probe& probe, const ProbeMatches& matches, const TargetView& view,
                            ProbeReport& report);
    Result<void> attach_group(Group& group, const TargetView& view);
    void fall_back_to_exits(Probe& probe, const TargetView& view, const std::string& reason,
                            uint64_t now_ns);
    SpecSettings settings_of(const Probe& probe) const;
    void publish(const Probe& probe);
    AttachmentRequest request_for(ExitWay exit) const;
    static void add_sites(AttachmentRequest& request, const Place& place, uint64_t cookie);

    const Programs& programs_;
    const Features& features_;
    ModuleCatalogue& catalogue_;
    EventSink& sink_;
    AttachWay way_;
    WayOut way_out_ = WayOut::automatic;
    SpecTable specs_;
    std::map<ProbeId, Probe> probes_;
    std::map<SpecId, std::pair<ProbeId, FunctionPlace>> spec_places_;
};

} // namespace auger
