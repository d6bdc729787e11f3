// SPDX-License-Identifier: GPL-3.0-or-later
// DefinitionLog: remembers every definition of the stream, so that a recording which begins later
// can be preceded by them. Definitions are kept encoded as in a recording, which is compact; of
// ids that are given to one thing after the other, and of probes, the split and `only`, just the
// present state is kept.
#pragma once

#include "loader/recording/record_encoder.h"
#include "loader/stream/events.h"

#include <map>
#include <string>
#include <vector>

namespace auger {

class DefinitionLog final : public EventSink {
  public:
    // Delivers all definitions so far to `sink`, each before its first use.
    void replay(EventSink& sink) const;
    size_t bytes() const;        // of the encoded definitions
    size_t memory_bytes() const; // that they take

    void on_machine(MachineId id, const MachineInfo& info) override {
        encoder_.on_machine(id, info);
    }
    void on_module(ModuleId id, const ModuleInfo& info) override { encoder_.on_module(id, info); }
    void on_location(LocationId id, const Location& location) override {
        encoder_.on_location(id, location);
    }
    void on_frames(LocationId id, std::span<const Frame> frames) override {
        encoder_.on_frames(id, frames);
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
    void on_ledger(const LedgerEvent&) override {}
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

    // Short ones lie within the string; others in a block, to which malloc adds some, about 16.
    static size_t heap_bytes(const std::string& text) {
        return text.capacity() >= sizeof(std::string) / 2 ? text.capacity() + 16 : 0;
    }

    RecordEncoder encoder_, one_;
    std::vector<std::string> stacks_, threads_; // encoded, by id
    size_t by_id_bytes_ = 0;
    std::map<ProbeId, ProbeInfo> probes_;
    SplitInfo split_;
    OnlyInfo only_;
};

} // namespace auger
