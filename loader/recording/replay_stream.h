// SPDX-License-Identifier: GPL-3.0-or-later
// ReplayStream: stands between a recording and the console's sink, and makes the recorded stream
// obey what the console says: recorded probes take the ids that the console gave them and are
// announced as soon as it asks for them, its own split and `only` outlive the recorded ones, and
// slow calls below its own threshold are left out. Ids that the recording gives to one stack or
// thread after the other become ids of each: the sink may hold more than the recorder's did.
#pragma once

#include "loader/recording/recording_summary.h"
#include "loader/stream/events.h"

#include <optional>

namespace auger {

class ReplayStream final : public EventSink {
  public:
    ReplayStream(const RecordingSummary& summary, EventSink& sink);

    // The recorded probe that the console knows by `shown`; nothing when there is none.
    std::optional<ProbeId> recorded(ProbeId shown) const;
    // What these change is delivered by announce().
    void show(ProbeId recorded, ProbeId as);
    void remove(ProbeId recorded);
    void set_slow(ProbeId recorded, const Threshold& slow);
    void set_conditions(ProbeId recorded, const CallConditions& conditions);
    void set_split(const SplitInfo& split); // with a shown id
    void set_only(const OnlyInfo& only);    // likewise
    bool removed(ProbeId recorded) const { return probes_.at(recorded).removed; }
    bool asked_for(ProbeId recorded) const { return probes_.at(recorded).asked_for; }

    void announce();
    // on_time, unless a later time was told before.
    void pass_time(uint64_t time_ns);

    void on_machine(MachineId id, const MachineInfo& info) override { sink_.on_machine(id, info); }
    void on_module(ModuleId id, const ModuleInfo& info) override { sink_.on_module(id, info); }
    void on_location(LocationId id, const Location& location) override {
        sink_.on_location(id, location);
    }
    void on_frames(LocationId id, std::span<const Frame> frames) override {
        sink_.on_frames(id, frames);
    }
    void on_stack(StackId id, std::span<const LocationId> stack) override {
        sink_.on_stack(stacks_.define(id), stack);
    }
    void on_thread(ThreadId id, const ThreadInfo& info) override {
        sink_.on_thread(threads_.define(id), info);
    }
    void on_spec(SpecId, const SpecInfo&) override;
    void on_probe(const ProbeInfo&) override;
    void on_split(const SplitInfo&) override;
    void on_only(const OnlyInfo&) override;
    void on_label(LabelId id, const std::string& text) override { sink_.on_label(id, text); }
    void on_sample(const SampleEvent& event) override {
        SampleEvent told = event;
        told.thread = threads_.of(event.thread);
        told.stack = stacks_.of(event.stack);
        sink_.on_sample(told);
    }
    void on_call_end(const CallEndEvent& event) override { sink_.on_call_end(translated(event)); }
    void on_slow_call(const SlowCallEvent&) override;
    void on_call_parts(const CallPartsEvent&) override;
    void on_stats(const StatsEvent&) override;
    void on_ledger(const LedgerEvent& event) override { sink_.on_ledger(event); }
    void on_notice(uint64_t time_ns, const std::string& text) override {
        sink_.on_notice(time_ns, text);
    }
    void on_time(uint64_t time_ns) override { pass_time(time_ns); }

  private:
    // From recorded ids, which are given again, to ids that are not.
    template <typename IdType>
    class OwnIds {
      public:
        IdType define(IdType recorded) {
            if (recorded.index() >= own_.size())
                own_.resize(recorded.index() + 1, undefined);
            return own_[recorded.index()] = IdType{next_++};
        }
        IdType of(IdType recorded) const {
            return recorded.index() < own_.size() ? own_[recorded.index()] : undefined;
        }

      private:
        static constexpr IdType undefined{UINT32_MAX};
        std::vector<IdType> own_;
        uint32_t next_ = 0;
    };
    CallEndEvent translated(const CallEndEvent& event) const {
        CallEndEvent told = event;
        told.thread = threads_.of(event.thread);
        return told;
    }

    struct Probe {
        ProbeInfo info; // as last recorded, with the recorded id
        ProbeId shown;
        std::optional<Threshold> slow;            // the console's own
        std::optional<CallConditions> conditions; // likewise
        bool announced = false;                   // the sink knows it
        bool pending = false;                     // to be announced
        bool asked_for = false;                   // by the console
        bool removed = false;                     // by the console
    };

    Probe& probe(ProbeId recorded, const ProbeInfo& info);
    void deliver_spec(SpecId);
    void deliver(Probe&);
    const Probe* probe_of(SpecId) const;

    EventSink& sink_;
    OwnIds<StackId> stacks_;
    OwnIds<ThreadId> threads_;
    std::map<ProbeId, Probe> probes_; // by recorded id
    std::vector<SpecInfo>
        specs_; // by id, with recorded ids; also what the stream has yet to define
    std::vector<ProbeId> spec_probes_; // as the sink knows them; as long as it knows specs
    std::vector<ProbeId> retired_;     // shown ids that no probe has any more
    std::optional<SplitInfo> split_;   // in force, with a shown id
    bool own_split_ = false;
    bool split_pending_ = false;
    std::optional<OnlyInfo> only_; // likewise
    bool own_only_ = false;
    bool only_pending_ = false;
    uint64_t time_ns_ = 0;
};

} // namespace auger
