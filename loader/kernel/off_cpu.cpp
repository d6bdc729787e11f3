// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/off_cpu.h"

#include "loader/base/quantile.h"
#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/calibration_guard.h"
#include "loader/kernel/switch_meter.h"

#include <optional>
#include <utility>
#include <vector>

namespace auger {

namespace {

// How often is measured: others come and go meanwhile, so each time with and without.
constexpr size_t trials = 5;

// Of a round between two threads of ours, what the programs do not measure of themselves.
std::optional<double> measure_unknown(Programs& programs) {
    const CalibrationGuard calibrating(programs, WIRE_CALIBRATE_WAITS);
    return measure_round({.known_ns = [&] { return programs.wait_stats().own_ns; }});
}

// While it is measured what a run of the programs costs beside what they measure, they count none.
class NoEntryCosts {
  public:
    explicit NoEntryCosts(volatile wire_config& config)
        : config_(config), switch_ns_(config.switch_entry_ns), waking_ns_(config.waking_entry_ns) {
        config_.switch_entry_ns = 0;
        config_.waking_entry_ns = 0;
    }
    ~NoEntryCosts() {
        config_.switch_entry_ns = switch_ns_;
        config_.waking_entry_ns = waking_ns_;
    }
    NoEntryCosts(const NoEntryCosts&) = delete;
    NoEntryCosts& operator=(const NoEntryCosts&) = delete;

  private:
    volatile wire_config& config_;
    const uint32_t switch_ns_, waking_ns_;
};

// Of what was measured; without any, or below zero, what was known before.
uint32_t cost_of(std::vector<double> costs, uint32_t before) {
    const double cost_ns = costs.empty() ? 0 : median(std::move(costs));
    return cost_ns > 0 ? static_cast<uint32_t>(cost_ns) : before;
}

} // namespace

// The kinds stand in the order in which a wait meets the programs, and so does an error.
Result<OffCpu> OffCpu::make(Programs& programs) {
    constexpr std::array kinds = {ProgramKind::off_cpu_switch, ProgramKind::off_cpu_waking};
    constexpr std::array runs_a_round = {switches_a_round, wakeups_a_round};
    std::array<int, kinds.size()> ids{};
    for (size_t i = 0; i < kinds.size(); i++) {
        if (!programs.can_load(kinds[i]))
            return Error{"sample waits", "", "no BPF program may attach to context switches here",
                         "`sample` without `wall` works", Error::Kind::unsupported};
        const auto program = programs.program(kinds[i]);
        if (!program)
            return program.error();
        ids[i] = *program;
    }
    const volatile wire_config& config = programs.config();
    const std::array before = {uint32_t{config.switch_entry_ns}, uint32_t{config.waking_entry_ns}};
    const NoEntryCosts none(programs.config());
    std::array<UniqueFd, kinds.size()> links;
    std::array<std::vector<double>, kinds.size()> costs;
    for (size_t trial = 0; trial < trials; trial++) {
        for (UniqueFd& link : links)
            link.reset();
        auto without = measure_unknown(programs);
        for (size_t i = 0; i < kinds.size(); i++) {
            auto link = open_raw_tracepoint(ids[i], "of context switches");
            if (!link)
                return link.error();
            links[i] = std::move(*link);
            const auto with = measure_unknown(programs);
            if (with && without)
                costs[i].push_back((*with - *without) / runs_a_round[i]);
            without = with;
        }
    }
    OffCpu made(programs, std::move(links));
    for (size_t i = 0; i < kinds.size(); i++)
        made.entry_ns_[i] = cost_of(std::move(costs[i]), before[i]);
    return made;
}

void OffCpu::start(uint32_t rate_hz, uint32_t epoch) {
    set_rate(rate_hz);
    programs_->config().switch_entry_ns = entry_ns_[0];
    programs_->config().waking_entry_ns = entry_ns_[1];
    // Last: until then no wait has a tick.
    programs_->config().wall_epoch = epoch;
}

OffCpu::~OffCpu() {
    if (links_[0])
        programs_->config().wall_epoch = 0;
}

void OffCpu::set_rate(uint32_t rate_hz) {
    programs_->config().wall_period_ns = 1'000'000'000 / rate_hz;
}

std::vector<uint64_t> OffCpu::link_ids() const {
    return {link_id(links_[0].get()), link_id(links_[1].get())};
}

} // namespace auger
