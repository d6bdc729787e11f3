// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_gates.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/live_probes.h"
#include "loader/process/container.h"
#include "loader/process/proc_info.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

// The age from which on a call fulfils a term. While a percentile has no value yet, none does.
uint64_t age_of(const ThresholdFollower& follower) {
    ThresholdState state = follower.state();
    if (state.kind == ThresholdState::Kind::none)
        return 0;
    return state.in_force() ? state.value_ns + 1 : UINT64_MAX;
}

Result<wire_gate_term> compile(const GateTerm& term) {
    wire_gate_term wire = {};
    switch (term.kind) {
    case GateTerm::Kind::call:
        wire.kind = WIRE_TERM_CALL;
        break;
    case GateTerm::Kind::pid:
        wire.kind = WIRE_TERM_PID;
        wire.value = term.number;
        break;
    case GateTerm::Kind::tid:
        wire.kind = WIRE_TERM_TID;
        wire.value = term.number;
        break;
    case GateTerm::Kind::comm:
        if (term.text.size() >= WIRE_COMM)
            return Error{"only comm", term.text, "thread names have at most 15 bytes",
                         "give the first 15, as `ps -L` shows them"};
        wire.kind = WIRE_TERM_COMM;
        term.text.copy(wire.comm, WIRE_COMM - 1);
        break;
    case GateTerm::Kind::cgroup: {
        auto cgroups = cgroups_by_name(term.text);
        if (!cgroups)
            return cgroups.error();
        if (cgroups->size() > 1)
            return Error{"only cgroup", term.text, "the container has control groups below it",
                         "`filter cgroup` takes them all; or name one by its path"};
        wire.kind = WIRE_TERM_CGROUP;
        wire.value = cgroups->front().id;
        break;
    }
    }
    return wire;
}

uint16_t bits_of(const std::vector<uint32_t>& terms) {
    uint32_t bits = 0;
    for (uint32_t term : terms)
        bits |= 1u << term;
    return static_cast<uint16_t>(bits);
}

} // namespace

Result<void> LiveGates::write(uint32_t index, const wire_gate& gate) const {
    if (update_element(programs_.map_fd(MapKind::gates), &index, &gate) < 0)
        return system_error("write gate", "");
    return {};
}

Result<void> LiveGates::set(wire_gate_use use, const Gate& gate) {
    InForce& before = gates_[use];
    if (gate.empty()) {
        programs_.config().gate[use] = 0;
        before = {};
        return {};
    }
    if (gate.terms.size() > WIRE_MAX_GATE_TERMS || gate.clauses.size() > WIRE_MAX_CLAUSES)
        return Error{"only", "", "the condition is too long",
                     fmt::format("at most {} terms, and {} alternatives joined by `or`",
                                 WIRE_MAX_GATE_TERMS, WIRE_MAX_CLAUSES)};
    InForce next;
    next.which = before.which == 1 ? 2 : 1;
    next.wire.terms = static_cast<uint32_t>(gate.terms.size());
    next.wire.clauses = static_cast<uint32_t>(gate.clauses.size());
    std::map<ProbeId, uint32_t> terms_of;
    const uint32_t index = 2 * use + next.which - 1;
    for (uint32_t i = 0; i < gate.terms.size(); i++) {
        const GateTerm& term = gate.terms[i];
        auto wire = compile(term);
        if (!wire)
            return wire.error();
        if (term.kind == GateTerm::Kind::call) {
            const ThresholdFollower* learned = probes_.follower(term.probe);
            if (!learned)
                return Error{"only", fmt::format("#{}", term.probe.value), "there is no such probe",
                             "`probes` lists them"};
            Term& call = next.calls.emplace_back(Term{i, term.probe, *learned});
            call.follower.set_threshold(term.older);
            wire->value = age_of(call.follower);
            terms_of[term.probe] |= 1u << (index * WIRE_MAX_GATE_TERMS + i);
        }
        next.wire.term[i] = *wire;
    }
    for (size_t i = 0; i < gate.clauses.size(); i++)
        next.wire.clause[i] = {bits_of(gate.clauses[i].all), bits_of(gate.clauses[i].none)};
    if (auto written = write(index, next.wire); !written)
        return written;
    const uint32_t mask = ((1u << WIRE_MAX_GATE_TERMS) - 1) << (index * WIRE_MAX_GATE_TERMS);
    Transaction edit;
    if (auto set = probes_.set_terms(mask, terms_of, edit); !set)
        return set;
    edit.commit();
    programs_.config().gate[use] = next.which;
    before = std::move(next);
    return {};
}

void LiveGates::on_stats(ProbeId probe, const StatsEvent& event) {
    for (uint32_t use = 0; use < gates_.size(); use++) {
        InForce& gate = gates_[use];
        bool moved = false;
        for (Term& term : gate.calls) {
            if (term.probe != probe || !term.follower.on_stats(event))
                continue;
            gate.wire.term[term.index].value = age_of(term.follower);
            moved = true;
        }
        if (moved)
            (void)write(2 * use + gate.which - 1, gate.wire);
    }
}

bool LiveGates::holds(const InForce& gate, size_t term, pid_t pid, std::span<const CallKey> calls,
                      uint64_t time_ns) const {
    const wire_gate_term& wire = gate.wire.term[term];
    switch (wire.kind) {
    case WIRE_TERM_CALL: {
        const auto of_call = std::ranges::find(gate.calls, term, &Term::index);
        return of_call != gate.calls.end() && std::ranges::any_of(calls, [&](const CallKey& call) {
                   return probes_.functions().probe_of(call.spec) == of_call->probe &&
                          time_ns >= call.start_ns && time_ns - call.start_ns >= wire.value;
               });
    }
    case WIRE_TERM_PID:
    case WIRE_TERM_TID:
        return wire.value == static_cast<uint64_t>(pid);
    case WIRE_TERM_COMM: {
        const auto comm = comm_of(pid);
        return comm && *comm == wire.comm;
    }
    case WIRE_TERM_CGROUP: {
        const auto group = cgroup_of(pid);
        return group && group->id == wire.value;
    }
    default:
        return false;
    }
}

bool LiveGates::passes(wire_gate_use use, pid_t pid, std::span<const CallKey> calls,
                       uint64_t time_ns) const {
    const InForce& gate = gates_[use];
    if (!gate.which)
        return true;
    uint32_t fulfilled = 0;
    for (uint32_t i = 0; i < gate.wire.terms; i++)
        fulfilled |= holds(gate, i, pid, calls, time_ns) ? 1u << i : 0;
    return std::ranges::any_of(
        std::span(gate.wire.clause).first(gate.wire.clauses), [&](const wire_gate_clause& clause) {
            return (fulfilled & clause.all) == clause.all && !(fulfilled & clause.none);
        });
}

bool LiveGates::uses(ProbeId probe) const {
    return std::ranges::any_of(gates_, [&](const InForce& gate) {
        return std::ranges::any_of(gate.calls,
                                   [&](const Term& term) { return term.probe == probe; });
    });
}

} // namespace auger
