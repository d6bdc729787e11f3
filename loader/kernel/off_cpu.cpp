// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/off_cpu.h"

#include "loader/kernel/bpf_calls.h"

namespace auger {

Result<OffCpu> OffCpu::make(Programs& programs) {
    std::array<UniqueFd, 2> links;
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
    }
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
