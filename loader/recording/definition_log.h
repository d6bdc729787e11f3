// SPDX-License-Identifier: GPL-3.0-or-later
// DefinitionLog: remembers every definition of the stream, so that a recording which begins later
// can be preceded by them, or by those that it needs. Definitions are kept encoded as in a
// recording, which is compact; of ids that are given to one thing after the other, and of probes,
// the split and `only`, just the present state is kept, and the account as it was told last.
// Changes with what the stream defines.
#pragma once

#include "loader/recording/record_decoder.h"
#include "loader/recording/record_encoder.h"
#include "loader/stream/events.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

class DefinitionLog final : public EventSink {
  public:
    // Delivers all definitions so far to `sink`, each before its first use.
    void replay(EventSink& sink) const;
    // Of these all but locations, stacks and threads, which can be asked for by id; what is not
    // defined is nothing.
    void replay_shared(EventSink& sink) const;
    std::optional<Location> location(LocationId id) const;
    std::span<const Frame> frames(LocationId id) const; // valid until the next question
    std::vector<LocationId> stack(StackId id) const;
    ThreadInfo thread(ThreadId id) const;
    const MachineInfo& machine() const { return machine_; }
    const std::optional<LedgerEvent>& ledger() const { return ledger_; }

    size_t bytes() const;        // of the encoded definitions
    size_t memory_bytes() const; // that they take

    void on_machine(MachineId id, const MachineInfo& info) override {
        machine_ = info;
        encoder_.on_machine(id, info);
    }
    void on_module(ModuleId id, const ModuleInfo& info) override { encoder_.on_module(id, info); }
    void on_location(LocationId id, const Location& location) override {
        remember(locations_at_, id.index());
        places_.on_location(id, location);
    }
    void on_frames(LocationId id, std::span<const Frame> frames) override {
        remember(frames_at_, id.index());
        places_.on_frames(id, frames);
    }
    void on_stack(StackId id, std::span<const LocationId> stack) override {
        keep(stacks_, id.index(), [&] { one_.on_stack(id, stack); });
    }
    void on_thread(ThreadId id, const ThreadInfo& info) override {
        keep(threads_, id.index(), [&] { one_.on_thread(id, info); });
    }
    void on_spec(SpecId id, const SpecInfo& info) override { encoder_.on_spec(id, info); }
    void on_probe(const ProbeInfo& info) override { probes_.insert_or_assign(info.id, info); }
    void on_split(const SplitInfo& info) override { split_ = info; }
    void on_only(const OnlyInfo& info) override { only_ = info; }
    void on_label(LabelId id, const std::string& text) override { encoder_.on_label(id, text); }

    void on_sample(const SampleEvent&) override {}
    void on_call_end(const CallEndEvent&) override {}
    void on_slow_call(const SlowCallEvent&) override {}
    void on_call_parts(const CallPartsEvent&) override {}
    void on_stats(const StatsEvent&) override {}
    void on_ledger(const LedgerEvent& ledger) override { ledger_ = ledger; }
    void on_notice(uint64_t, const std::string&) override {}
    void on_time(uint64_t) override {}

  private:
    template <typename Encode>
    void keep(std::vector<std::string>& by_id, size_t id, Encode encode) {
        if (id > by_id.size()) // none of a sound stream
            return;
        one_.clear();
        encode();
        if (id == by_id.size())
            by_id.emplace_back();
        by_id_bytes_ -= heap_bytes(by_id[id]);
        by_id[id] = one_.bytes();
        by_id_bytes_ += heap_bytes(by_id[id]);
    }
    // That its record follows in places_.
    void remember(std::vector<uint64_t>& at, size_t id) {
        if (id >= at.size() && id < recording::max_ids)
            at.resize(id + 1, nowhere);
        if (id < at.size())
            at[id] = places_.bytes().size();
    }
    // One record that was encoded here.
    void tell(std::string_view records, EventSink& sink) const;
    void tell(const std::vector<uint64_t>& at, size_t id, EventSink& sink) const;

    // Short ones lie within the string; others in a block, to which malloc adds some, about 16.
    static size_t heap_bytes(const std::string& text) {
        return text.capacity() >= sizeof(std::string) / 2 ? text.capacity() + 16 : 0;
    }

    static constexpr uint64_t nowhere = UINT64_MAX;
    RecordEncoder encoder_, one_;
    RecordEncoder places_;                           // locations and their names
    std::vector<uint64_t> locations_at_, frames_at_; // in places_, by id; of names the last
    std::vector<std::string> stacks_, threads_;      // encoded, by id
    size_t by_id_bytes_ = 0;
    std::map<ProbeId, ProbeInfo> probes_;
    SplitInfo split_;
    OnlyInfo only_;
    MachineInfo machine_;
    std::optional<LedgerEvent> ledger_;
    mutable RecordDecoder decoder_ = RecordDecoder::of_own_records();
    mutable std::vector<Frame> frames_; // of the last question
};

} // namespace auger
