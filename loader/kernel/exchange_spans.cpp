// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/exchange_spans.h"

#include "loader/kernel/bpf_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace auger {

Result<void> ExchangeSpans::add(ProbeId span, uint64_t cookie,
                                const ExchangeDefinition& exchanges) {
    if (!features_.socket_tracepoints)
        return Error{"span", "exchanges", features_.socket_tracepoints_fault,
                     "`span ... from ... to ...` works here; Linux has them from 6.3 on",
                     Error::Kind::unsupported};
    const auto free =
        std::ranges::find_if(owners_, [](const std::optional<ProbeId>& owner) { return !owner; });
    if (free == owners_.end())
        return Error{"span", "exchanges",
                     fmt::format("there are {} such spans already", owners_.size()),
                     "delete one that is no longer needed", Error::Kind::failed};
    if (auto watched = watch(); !watched)
        return watched;
    *free = span;
    wire_exchanges& wire = spans_.of[std::distance(owners_.begin(), free)];
    wire = {};
    wire.quiet_ns = exchanges.quiet_ns;
    wire.spec = cookie & WIRE_COOKIE_SPEC_MASK;
    wire.generation = static_cast<uint16_t>(cookie >> WIRE_COOKIE_GENERATION_SHIFT);
    wire.port = exchanges.port;
    auto published = publish();
    if (!published)
        remove(span);
    return published;
}

void ExchangeSpans::remove(ProbeId span) {
    const auto owner = std::ranges::find(owners_, std::optional(span));
    if (owner == owners_.end())
        return;
    owner->reset();
    spans_.of[std::distance(owners_.begin(), owner)] = {};
    // What is left there when this fails has a spec that is none any more.
    (void)publish();
    if (std::ranges::none_of(owners_,
                             [](const std::optional<ProbeId>& other) { return other.has_value(); }))
        links_.clear();
}

void ExchangeSpans::add_link_ids(std::vector<uint64_t>& ids) const {
    for (const UniqueFd& link : links_)
        ids.push_back(link_id(link.get()));
}

// First that a connection closes or becomes another one, then what happens on it.
Result<void> ExchangeSpans::watch() {
    if (!links_.empty())
        return {};
    constexpr std::array kinds = {ProgramKind::exchange_state, ProgramKind::exchange_arrival,
                                  ProgramKind::exchange_wait, ProgramKind::exchange_send,
                                  ProgramKind::exchange_receive};
    std::vector<int> programs; // all, before the first one sees anything
    for (const ProgramKind kind : kinds) {
        const auto program = programs_.program(kind);
        if (!program)
            return program.error();
        programs.push_back(*program);
    }
    // What was known of connections may be true no longer.
    spans_.epoch++;
    if (auto published = publish(); !published)
        return published;
    for (const int program : programs) {
        auto link = open_raw_tracepoint(program, "of connections");
        if (!link) {
            links_.clear();
            return link.error();
        }
        links_.push_back(std::move(*link));
    }
    return {};
}

Result<void> ExchangeSpans::publish() const {
    const uint32_t zero = 0;
    if (update_element(programs_.map_fd(MapKind::exchange_spans), &zero, &spans_) < 0)
        return system_error("write", "exchange spans");
    return {};
}

} // namespace auger
