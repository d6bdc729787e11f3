// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/off_cpu.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/own_target.h"
#include "loader/kernel/switch_meter.h"

#include <optional>

namespace auger {

namespace {

// Of a round between two threads of ours, what the programs do not measure of themselves.
std::optional<double> measure_unknown(Programs& programs) {
    const OwnTarget observed(programs);
    return measure_round({.known_ns = [&] { return programs.wait_stats().own_ns; }});
}

// What was measured before stays when others got in the way.
uint32_t difference(const std::optional<double>& with, const std::optional<double>& without,
                    unsigned times, uint32_t before) {
    return with && without && *with > *without ? static_cast<uint32_t>((*with - *without) / times)
                                               : before;
}

} // namespace

Result<OffCpu> OffCpu::make(Programs& programs) {
    std::array<UniqueFd, 2> links;
    std::array<std::optional<double>, 3> rounds; // without programs, with one, with both
    volatile wire_config& config = programs.config();
    const uint32_t switch_before_ns = config.switch_entry_ns,
                   waking_before_ns = config.waking_entry_ns;
    config.switch_entry_ns = 0;
    config.waking_entry_ns = 0;
    rounds[0] = measure_unknown(programs);
    // The kinds stand in the order in which a wait meets the programs, and so does an error.
    const std::array kinds = {ProgramKind::off_cpu_switch, ProgramKind::off_cpu_waking};
    for (size_t i = 0; i < links.size(); i++) {
        if (!programs.can_load(kinds[i]))
            return Error{"sample waits", "", "no BPF program may attach to context switches here",
                         "`sample` without `wall` works", Error::Kind::unsupported};
        const auto program = programs.program(kinds[i]);
        if (!program)
            return program.error();
        auto link = open_raw_tracepoint(*program, "of context switches");
        if (!link)
            return link.error();
        links[i] = std::move(*link);
        rounds[i + 1] = measure_unknown(programs);
    }
    config.switch_entry_ns = difference(rounds[1], rounds[0], switches_a_round, switch_before_ns);
    config.waking_entry_ns = difference(rounds[2], rounds[1], wakeups_a_round, waking_before_ns);
    return OffCpu(programs, std::move(links));
}

void OffCpu::start(uint32_t rate_hz, uint32_t epoch) {
    set_rate(rate_hz);
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
