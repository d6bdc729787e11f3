// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/exchange_spans.h"

#include "loader/kernel/bpf_calls.h"

#include <fmt/format.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace auger {

namespace {

// As sun_path has it: behind the name of a file there is a zero, and one in front of others.
Result<void> put_path(const std::string& path, wire_exchanges& wire) {
    constexpr size_t most = sizeof(sockaddr_un::sun_path);
    if (path.size() > most - (path.front() != '@'))
        return Error{"span", path, "a unix socket has no such path",
                     fmt::format("it has {} bytes, of at most {}", path.size(), most - 1),
                     Error::Kind::usage};
    std::string bytes = path;
    if (bytes.front() == '@')
        bytes.front() = '\0';
    wire.is_unix = 1;
    static_assert(sizeof wire.path >= most);
    std::memcpy(wire.path, bytes.data(), bytes.size());
    return {};
}

} // namespace

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
    auto published =
        exchanges.unix_path.empty() ? Result<void>() : put_path(exchanges.unix_path, wire);
    if (published)
        published = publish();
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
    if (std::ranges::none_of(
            owners_, [](const std::optional<ProbeId>& other) { return other.has_value(); })) {
        links_.clear();
        programs_.config().with_exchanges = 0;
    }
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
    programs_.config().with_exchanges = 1;
    return {};
}

Result<void> ExchangeSpans::publish() {
    const uint32_t zero = 0;
    spans_.of_unix = static_cast<uint64_t>(std::ranges::count_if(
        spans_.of, [](const wire_exchanges& exchanges) { return exchanges.is_unix != 0; }));
    if (update_element(programs_.map_fd(MapKind::exchange_spans), &zero, &spans_) < 0)
        return system_error("write", "exchange spans");
    return {};
}

} // namespace auger
