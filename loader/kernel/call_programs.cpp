// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/call_programs.h"

#include "loader/kernel/bpf_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

// Predicates that decide whether a call counts, or has a mark that is counted. Others wait until
// there is something to tell of the call.
bool is_judged_at_end(const wire_call_program& program) {
    const wire_predicate& split = program.predicate[WIRE_PREDICATE_SPLIT];
    return program.predicate[WIRE_PREDICATE_ONLY].clauses || (split.clauses && split.at_end);
}

bool asks_for_task(const wire_call_program& program) {
    return std::any_of(program.fetch, program.fetch + program.fetches,
                       [](const wire_fetch& fetch) { return fetch.base == WIRE_BASE_TASK; });
}

} // namespace

void CallPrograms::release(uint32_t place) {
    if (place)
        used_[place - 1] = false;
}

Result<uint32_t> CallPrograms::enter(SpecId spec, std::optional<CallProgram> program,
                                     Transaction& edit) {
    uint32_t place = 0;
    if (program) {
        size_t tried = 0;
        while (used_[next_place_] && tried++ < used_.size())
            next_place_ = (next_place_ + 1) % WIRE_MAX_PROGRAMS;
        if (used_[next_place_])
            return Error{"read values", fmt::format("of more than {} functions", WIRE_MAX_PROGRAMS),
                         "all places are taken", "name fewer functions"};
        if (++last_version_ == 0)
            last_version_ = 1;
        program->wire.version = last_version_;
        program->wire.judges_end = program->wire.judges_end || is_judged_at_end(program->wire);
        program->wire.with_task = asks_for_task(program->wire);
        program->wire.at_return = is_read_at_return(*program);
        program->wire.reads_context = reads_context(*program);
        uint32_t key = next_place_;
        if (update_element(programs_.map_fd(MapKind::call_programs), &key, &program->wire) < 0)
            return system_error("install the value program of calls", "");
        used_[key] = true;
        place = key + 1;
        next_place_ = (next_place_ + 1) % WIRE_MAX_PROGRAMS;
        Entered& entered = entered_[spec];
        entered.versions.push_back(std::move(*program));
        if (entered.versions.size() > kept_versions)
            entered.versions.pop_front();
    }
    edit.on_rollback([this, place] { release(place); });
    edit.on_commit([this, spec, place] { release(std::exchange(entered_[spec].place, place)); });
    return place;
}

void CallPrograms::remove(SpecId spec) {
    auto found = entered_.find(spec);
    if (found == entered_.end())
        return;
    release(found->second.place);
    entered_.erase(found);
}

const CallProgram* CallPrograms::find(SpecId spec, uint32_t version) const {
    auto found = entered_.find(spec);
    if (found == entered_.end())
        return nullptr;
    for (const CallProgram& program : found->second.versions) {
        if (program.wire.version == version)
            return &program;
    }
    return nullptr;
}

const CallProgram* CallPrograms::newest(SpecId spec) const {
    auto found = entered_.find(spec);
    return found == entered_.end() || found->second.versions.empty()
               ? nullptr
               : &found->second.versions.back();
}

bool CallPrograms::read_contexts() const {
    return std::ranges::any_of(entered_, [](const auto& entry) {
        const Entered& entered = entry.second;
        return entered.place && !entered.versions.empty() &&
               entered.versions.back().wire.reads_context;
    });
}

} // namespace auger
