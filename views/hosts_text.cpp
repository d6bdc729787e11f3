// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/hosts_text.h"

#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

std::vector<HostRow> host_rows(const std::vector<HostReport>& hosts) {
    using State = HostReport::State;
    const auto duration = [](uint64_t ns) { return format_duration(static_cast<double>(ns)); };
    const auto bytes = [](uint64_t n) { return format_bytes(static_cast<double>(n)); };
    size_t longest = 0;
    for (const HostReport& host : hosts)
        longest = std::max(longest, host.name.size());
    std::vector<HostRow> rows;
    for (const HostReport& host : hosts) {
        std::string text = fmt::format("{:{}}  {}", host.name, longest, state_text(host.state));
        if (host.state == State::lost)
            text += ": " + host.cause;
        if (host.state == State::stale)
            text += ", silent for " + duration(host.silent_ns);
        if (host.state == State::live || host.state == State::stale) {
            text += fmt::format(", {} process{}, {}/s, {} in all", host.processes,
                                host.processes == 1 ? "" : "es", bytes(host.bytes_per_second),
                                bytes(host.received_bytes));
            text += fmt::format(", clock within {}, round trip {}", duration(host.clock_error_ns),
                                duration(host.round_trip_ns));
        }
        if (!host.lacks.empty())
            text += fmt::format(", without {}", fmt::join(host.lacks, ", "));
        if (host.lost_samples)
            text += fmt::format(", {} samples dropped on the way",
                                format_count(static_cast<double>(host.lost_samples)));
        if (host.times_lost && host.state != State::lost)
            text += fmt::format(", lost {} time{} before", host.times_lost,
                                host.times_lost == 1 ? "" : "s");
        rows.push_back({std::move(text), host.state == State::live && host.lacks.empty()});
    }
    return rows;
}

} // namespace auger
