// SPDX-License-Identifier: GPL-3.0-or-later
// What stands for the kernel when it cannot be used: every edit fails with the reason, while
// `help` and `doctor` still answer.
#pragma once

#include "loader/backend.h"

namespace auger {

class UnavailableBackend final : public Backend {
  public:
    UnavailableBackend(Error reason, std::vector<Capability> capabilities)
        : reason_(std::move(reason)), capabilities_(std::move(capabilities)) {}

    bool replaying() const override { return false; }
    uint64_t now_ns() const override { return 0; }
    Result<void> set_target(const TargetSpec&) override { return reason_; }
    TargetStatus target_status() const override { return {}; }
    Result<void> start_command() override { return reason_; }
    Result<ProbeReport> add_probe(const ProbeRequest&) override { return reason_; }
    Result<ProbePlan> plan_probe(const std::string&) override { return reason_; }
    Result<void> remove_probe(ProbeId) override { return reason_; }
    Result<void> set_attached(ProbeId, bool) override { return reason_; }
    Result<CallSites> find_call_sites(const std::string&) override { return reason_; }
    Result<UsdtProbes> find_usdt_probes(const std::string&) override { return reason_; }
    Result<Listeners> find_listeners() override { return reason_; }
    Result<Tracepoints> list_tracepoints(const std::string&) override { return reason_; }
    Result<void> set_slow(ProbeId, const Threshold&, const CallConditions&) override {
        return reason_;
    }
    Result<void> set_only(const OnlyInfo&) override { return reason_; }
    Result<void> set_explained(const ExplainRequest&) override { return reason_; }
    Result<std::vector<OpenCall>> open_calls(std::optional<ProbeId>) override { return reason_; }
    Result<std::vector<ThreadNow>> threads_now() override { return reason_; }
    Result<void> set_split(const SplitInfo&) override { return reason_; }
    Result<void> set_sampling(const SamplingSettings&) override { return reason_; }
    Result<void> set_filter(const FilterSpec&) override { return reason_; }
    Result<void> set_way_out(WayOut) override { return reason_; }
    void add_notice(const std::string&) override {}
    Result<void> record(const std::string&) override { return reason_; }
    Result<void> record_intervals(const IntervalRecording&) override { return reason_; }
    Result<void> keep_last(std::chrono::nanoseconds) override { return reason_; }
    Result<void> write_last(const std::string&) const override { return reason_; }
    std::vector<uint64_t> links() const override { return {}; }
    std::vector<Capability> capabilities() const override { return capabilities_; }
    SymbolProgress symbol_progress() const override { return {}; }
    UnwindStatus unwind_status() const override { return {}; }
    std::vector<std::string> complete_function(std::string_view, size_t) const override {
        return {};
    }
    Result<bool> poll(std::chrono::nanoseconds, int) override { return reason_; }
    Result<void> refresh() override { return reason_; }
    void settle_symbols(std::chrono::nanoseconds) override {}

  private:
    Error reason_;
    std::vector<Capability> capabilities_;
};

} // namespace auger
