// SPDX-License-Identifier: GPL-3.0-or-later
// For the tests of recordings: a sink that writes every event down as a line of text, so that
// streams can be compared and a difference read, and a generator of streams with every kind of
// event.
#pragma once

#include "loader/stream/events.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace auger {

class Transcript final : public EventSink {
  public:
    std::vector<std::string> lines;
    // Of these definitions alone; and events, not by ids of threads, stacks and values but by what
    // they stand for at that moment, with how many probes, splits and `only` were told before.
    std::vector<std::string> definitions, events;

    void on_machine(MachineId, const MachineInfo&) override;
    void on_module(ModuleId, const ModuleInfo&) override;
    void on_location(LocationId, const Location&) override;
    void on_frames(LocationId, std::span<const Frame>) override;
    void on_stack(StackId, std::span<const LocationId>) override;
    void on_thread(ThreadId, const ThreadInfo&) override;
    void on_spec(SpecId, const SpecInfo&) override;
    void on_probe(const ProbeInfo&) override;
    void on_split(const SplitInfo&) override;
    void on_only(const OnlyInfo&) override;
    void on_label(LabelId, const std::string&) override;
    void on_sample(const SampleEvent&) override;
    void on_call_end(const CallEndEvent&) override;
    void on_slow_call(const SlowCallEvent&) override;
    void on_call_parts(const CallPartsEvent&) override;
    void on_stats(const StatsEvent&) override;
    void on_ledger(const LedgerEvent&) override;
    void on_notice(uint64_t, const std::string&) override;
    void on_time(uint64_t) override;

  private:
    void define(std::string line);
    void change(std::string line);
    void happen(std::string line, std::string resolved);
    std::string resolved(const CallEndEvent& end) const;

    size_t changes_ = 0;
    std::vector<std::string> modules_, locations_, labels_; // by id
    std::map<uint32_t, std::string> stacks_, threads_;
};

// Delivers a valid stream: definitions of each kind, then `events` events of random kinds, with
// further definitions, probe edits and splits between them.
class StreamGenerator {
  public:
    // Events are `gap_ns` apart at most.
    explicit StreamGenerator(uint64_t seed, uint64_t gap_ns = 20'000'000)
        : random_(seed), gap_ns_(gap_ns) {}
    void definitions(EventSink& sink);
    void events(EventSink& sink, size_t count);
    uint64_t now() const { return time_; }

  private:
    uint64_t number(uint64_t below) { return below ? random_() % below : 0; }
    uint64_t wide(); // of any magnitude
    std::string text(size_t longest);
    CallKey call();
    CallEndEvent call_end();
    Threshold threshold();
    ProbeInfo probe(uint32_t id);
    CallConditions conditions();
    std::vector<Clause> clauses(uint64_t terms);
    OnlyInfo only();
    SlowCallEvent slow_call();
    void define_one(EventSink& sink);

    std::mt19937_64 random_;
    uint64_t gap_ns_;
    uint64_t time_ = 5'000'000'000;
    uint32_t modules_ = 0, locations_ = 0, stacks_ = 0, threads_ = 0, specs_ = 0, probes_ = 0,
             labels_ = 0;
};

} // namespace auger
