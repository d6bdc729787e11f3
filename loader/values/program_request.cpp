// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/call_program.h"

#include <algorithm>

namespace auger {
namespace {

bool shows_default(const ProgramRequest& request) {
    return request.traces_slow && request.conditions.show.empty() &&
           request.conditions.show_default;
}

} // namespace

bool asks_nothing(const ProgramRequest& request) {
    const CallConditions& conditions = request.conditions;
    return conditions.only_if.empty() && conditions.slow_if.empty() && request.split_if.empty() &&
           request.split_by.empty() &&
           !(request.traces_slow && (conditions.show_default || !conditions.show.empty()));
}

bool reads_context(const CallProgram& program) {
    return std::any_of(program.wire.fetch, program.wire.fetch + program.wire.fetches,
                       [](const wire_fetch& fetch) { return fetch.base == WIRE_BASE_CONTEXT; });
}

bool is_read_at_return(const CallProgram& program) {
    return std::all_of(
        program.wire.fetch, program.wire.fetch + program.wire.fetches, [](const wire_fetch& fetch) {
            return fetch.flags & WIRE_FETCH_AT_END &&
                   (fetch.base == WIRE_BASE_GO_LABEL || fetch.base == WIRE_BASE_REGISTER ||
                    fetch.base == WIRE_BASE_COMPUTED);
        });
}

CallProgram context_program() {
    CallProgram program;
    wire_call_program& wire = program.wire;
    wire.label = WIRE_NO_LABEL;
    wire.fetches = 2;
    for (const wire_context_part part : {WIRE_CONTEXT_TRACE, WIRE_CONTEXT_SPAN}) {
        wire_fetch& fetch = wire.fetch[part];
        fetch.base = WIRE_BASE_CONTEXT;
        fetch.number = part;
        fetch.offsets = 1;
        fetch.size = sizeof(uint64_t);
    }
    wire.fetch[WIRE_CONTEXT_TRACE].flags = WIRE_FETCH_STRING;
    wire.fetch[WIRE_CONTEXT_TRACE].size = WIRE_STRING;
    program.formats = {{ValueFormat::Kind::trace_id, 8, {}}, {ValueFormat::Kind::span_id, 8, {}}};
    program.shown = {{"trace", WIRE_CONTEXT_TRACE, {}, true},
                     {"span_id", WIRE_CONTEXT_SPAN, {}, true}};
    return program;
}

bool may_ask_for_errno(const ProgramRequest& request) {
    const auto mentions = [](const std::string& text) {
        return text.find("errno") != std::string::npos;
    };
    return shows_default(request) || mentions(request.conditions.only_if) ||
           mentions(request.conditions.slow_if) || mentions(request.split_if) ||
           mentions(request.split_by) || std::ranges::any_of(request.conditions.show, mentions);
}

} // namespace auger
