// SPDX-License-Identifier: GPL-3.0-or-later
// AgentStream: the event stream of an agent as blocks of records. When the pipe is crowded, what
// can be spared is dropped until it is not: samples, and calls that are told one by one, counted as
// the ledger counts losses. Definitions and statistics are never dropped; statistics are added up
// meanwhile. Ends of calls go the way of their samples: the console has use for those only of whose
// calls it has some. Changes when something else can be spared.
#pragma once

#include "loader/recording/record_encoder.h"
#include "loader/remote/call_key_hash.h"
#include "loader/remote/messages.h"
#include "loader/stream/events.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

namespace auger::remote {

// Causes in LedgerEvent::lost.
inline constexpr char lost_on_the_way[] = "samples: the console read too slowly";
inline constexpr char lost_calls_on_the_way[] = "slow and explained calls: the console read too "
                                                "slowly";

class AgentStream final : public EventSink {
  public:
    // `crowded` is asked for what could be spared.
    // `relays`: what comes is of several machines.
    explicit AgentStream(std::function<bool()> crowded, bool relays = false)
        : crowded_(std::move(crowded)), relays_(relays) {}

    // A block is no longer than this and a record, however much comes at once: a relay tells a
    // second of all its hosts.
    static constexpr size_t longest_block = most_block / 4;

    // What has come since the last one; nothing when nothing has, or there is no more of it.
    std::optional<Block> take_block();
    uint64_t lost_samples() const { return lost_samples_; }

    void on_machine(MachineId id, const MachineInfo& info) override {
        if (relays_) // else the hello says so
            origins_.machines.push_back({id, info});
    }
    void on_module(ModuleId id, const ModuleInfo& info) override { encoder_.on_module(id, info); }
    void on_location(LocationId id, const Location& location) override {
        encoder_.on_location(id, location);
        end_long_block();
    }
    void on_frames(LocationId id, std::span<const Frame> frames) override {
        encoder_.on_frames(id, frames);
        end_long_block();
    }
    void on_stack(StackId id, std::span<const LocationId> stack) override {
        encoder_.on_stack(id, stack);
        end_long_block();
    }
    void on_thread(ThreadId id, const ThreadInfo& info) override {
        encoder_.on_thread(id, info);
        add_origin(info.machine);
        end_long_block();
    }
    void on_spec(SpecId id, const SpecInfo& info) override {
        encoder_.on_spec(id, info);
        add_origin(info.machine);
        end_long_block();
    }
    void on_probe(const ProbeInfo& info) override { encoder_.on_probe(info); }
    void on_split(const SplitInfo& info) override { encoder_.on_split(info); }
    void on_only(const OnlyInfo& info) override { encoder_.on_only(info); }
    void on_label(LabelId id, const std::string& text) override { encoder_.on_label(id, text); }
    void on_sample(const SampleEvent&) override;
    void on_call_end(const CallEndEvent&) override;
    void on_slow_call(const SlowCallEvent&) override;
    void on_call_parts(const CallPartsEvent&) override;
    void on_stats(const StatsEvent&) override;
    void on_ledger(const LedgerEvent&) override;
    void on_notice(uint64_t time_ns, const std::string& text) override {
        encoder_.on_notice(time_ns, text);
    }
    void on_time(uint64_t time_ns) override;

  private:
    void add_origin(MachineId machine) {
        if (relays_)
            origins_.of.push_back(machine);
    }
    void end_long_block();
    Block end_block();

    const std::function<bool()> crowded_;
    const bool relays_;
    std::deque<Block> long_blocks_; // before what follows
    RecordEncoder encoder_;
    Origins origins_; // of what it holds
    // Of which a sample has been sent, and that have not ended.
    std::unordered_set<CallKey, CallKeyHash> sampled_calls_;
    std::map<SpecId, StatsEvent> held_stats_;
    std::optional<LedgerEvent> held_ledger_;
    uint64_t lost_samples_ = 0, lost_calls_ = 0;
    uint64_t until_ns_ = 0;
    bool time_passed_ = false; // since the last block
};

// Adds what happened later; `sum` may be empty.
void add_stats(StatsEvent& sum, const StatsEvent& later);

} // namespace auger::remote
