// SPDX-License-Identifier: GPL-3.0-or-later
// NeededDefinitions: stands between a session's stream and one of its recordings, which is to open
// by itself without all that the session ever defined: of locations, stacks and threads it defines
// those that the recording's events name, each before its first use and under an id of the
// recording's own. Modules, probes, functions and values keep the session's ids, by which its
// recordings are joined. Changes with what a recording needs to be understood.
#pragma once

#include "loader/recording/definition_log.h"
#include "loader/stream/events.h"

#include <unordered_set>
#include <vector>

namespace auger {

class NeededDefinitions final : public EventSink {
  public:
    // What the session has at this moment goes to `sink`. The log is told of everything before this
    // is, and outlives it.
    NeededDefinitions(const DefinitionLog& log, EventSink& sink);

    // Whether all that was defined has names.
    bool named() const { return nameless_.empty(); }

    void on_machine(MachineId id, const MachineInfo& info) override { sink_.on_machine(id, info); }
    void on_module(ModuleId id, const ModuleInfo& info) override { sink_.on_module(id, info); }
    void on_location(LocationId, const Location&) override {}
    void on_frames(LocationId, std::span<const Frame>) override;
    // An id of the session's that stands for something else from now on.
    void on_stack(StackId id, std::span<const LocationId>) override { stacks_.forget(id); }
    void on_thread(ThreadId id, const ThreadInfo&) override { threads_.forget(id); }
    void on_spec(SpecId id, const SpecInfo& info) override { sink_.on_spec(id, info); }
    void on_probe(const ProbeInfo& info) override { sink_.on_probe(info); }
    void on_split(const SplitInfo& info) override { sink_.on_split(info); }
    void on_only(const OnlyInfo& info) override { sink_.on_only(info); }
    void on_label(LabelId id, const std::string& text) override { sink_.on_label(id, text); }
    void on_sample(const SampleEvent&) override;
    void on_call_end(const CallEndEvent&) override;
    void on_slow_call(const SlowCallEvent&) override;
    void on_call_parts(const CallPartsEvent&) override;
    void on_stats(const StatsEvent& stats) override { sink_.on_stats(stats); }
    void on_ledger(const LedgerEvent& ledger) override { sink_.on_ledger(ledger); }
    void on_notice(uint64_t time_ns, const std::string& text) override {
        sink_.on_notice(time_ns, text);
    }
    void on_time(uint64_t time_ns) override { sink_.on_time(time_ns); }

  private:
    // From the session's ids to the recording's, which are given in order.
    template <typename IdType>
    class OwnIds {
      public:
        bool knows(IdType id) const {
            return id.index() < own_.size() && own_[id.index()] != undefined;
        }
        IdType of(IdType id) const { return own_[id.index()]; }
        IdType define(IdType id) {
            if (id.index() >= own_.size())
                own_.resize(id.index() + 1, undefined);
            return own_[id.index()] = IdType{given_++};
        }
        void forget(IdType id) {
            if (id.index() < own_.size())
                own_[id.index()] = undefined;
        }

      private:
        static constexpr IdType undefined{UINT32_MAX};
        std::vector<IdType> own_;
        uint32_t given_ = 0;
    };

    LocationId location(LocationId id);
    StackId stack(StackId id);
    ThreadId thread(ThreadId id);
    CallEndEvent own(const CallEndEvent& end);

    const DefinitionLog& log_;
    EventSink& sink_;
    OwnIds<LocationId> locations_;
    OwnIds<StackId> stacks_;
    OwnIds<ThreadId> threads_;
    std::unordered_set<uint32_t> nameless_; // locations, by the session's ids
};

} // namespace auger
