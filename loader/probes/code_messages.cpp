// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_messages.h"

#include "loader/probes/message_parts.h"

#include <algorithm>

namespace auger::code_messages {
namespace {

constexpr size_t slot_limit = 16; // of a ThreadLocalBlock
constexpr size_t most_go_switches = 16;

void put_program_request(ByteWriter& out, const ProgramRequest& request) {
    put(out, request.conditions.only_if);
    put(out, request.conditions.slow_if);
    put_texts(out, request.conditions.show);
    out.varint(request.conditions.show_default);
    put(out, request.split_if);
    out.varint(request.split_mark);
    put(out, request.split_by);
    out.varint(request.traces_slow);
    out.varint(request.shows_trace);
}

ProgramRequest take_program_request(ByteReader& in) {
    ProgramRequest request;
    request.conditions.only_if = take_text(in);
    request.conditions.slow_if = take_text(in);
    request.conditions.show = take_texts(in, most_texts);
    request.conditions.show_default = in.boolean();
    request.split_if = take_text(in);
    request.split_mark = static_cast<uint8_t>(in.varint_up_to(UINT8_MAX));
    request.split_by = take_text(in);
    request.traces_slow = in.boolean();
    request.shows_trace = in.boolean();
    return request;
}

} // namespace

std::string request(const Request& request) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(static_cast<uint64_t>(request.kind));
    out.varint(request.number);
    put(out, request.text);
    out.varint(request.has_file);
    out.varint(request.limit);
    out.varint(request.explain);
    out.varint(request.modules.size());
    for (const Module& module : request.modules) {
        out.varint(module.number);
        out.varint(module.main_program);
        out.varint(module.searched);
        out.varint(module.named);
    }
    put_program_request(out, request.program);
    out.varint(request.address);
    out.varint(request.error_number.has_value());
    out.zigzag(request.error_number.value_or(0));
    put_error(out, request.no_error_number);
    out.varint(request.usdt_arguments.has_value());
    put(out, request.usdt_arguments.value_or(""));
    out.varint(request.tracepoint.has_value());
    put(out, request.tracepoint.value_or(""));
    return bytes;
}

std::optional<Request> request(std::string_view bytes) {
    ByteReader in(bytes);
    Request request;
    request.kind = take_enum(in, Kind::variable);
    request.number = in.varint32();
    request.text = take_text(in);
    request.has_file = in.boolean();
    request.limit = in.varint();
    request.explain = in.boolean();
    request.modules = take_list(in, request_limit, [&] {
        Module module;
        module.number = in.varint32();
        module.main_program = in.boolean();
        module.searched = in.boolean();
        module.named = in.boolean();
        return module;
    });
    request.program = take_program_request(in);
    request.address = in.varint();
    const bool is_known = in.boolean();
    const auto error_number = static_cast<int32_t>(in.zigzag());
    if (is_known)
        request.error_number = error_number;
    request.no_error_number = take_error(in);
    const bool is_usdt = in.boolean();
    std::string arguments = take_text(in);
    if (is_usdt)
        request.usdt_arguments = std::move(arguments);
    const bool is_tracepoint = in.boolean();
    std::string format = take_text(in);
    if (is_tracepoint)
        request.tracepoint = std::move(format);
    return whole(in, std::move(request));
}

std::string alternative(const Alternative& alternative) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(alternative.build_id.has_value());
    elf_messages::put_build_id(out, alternative.build_id.value_or(""));
    return bytes;
}

std::optional<Alternative> alternative(std::string_view bytes) {
    ByteReader in(bytes);
    const bool has_one = in.boolean();
    std::string id = elf_messages::take_build_id(in);
    return whole(in, Alternative{has_one ? std::optional(std::move(id)) : std::nullopt});
}

std::string texts(const std::vector<std::string>& texts) {
    std::string bytes;
    ByteWriter out(bytes);
    put_texts(out, texts);
    return bytes;
}

std::optional<std::vector<std::string>> texts(std::string_view bytes) {
    ByteReader in(bytes);
    std::vector<std::string> texts = take_texts(in, most_texts);
    return whole(in, std::move(texts));
}

std::string facts(const UnwindFacts& facts) {
    return texts({facts.objection, facts.starter});
}

std::optional<UnwindFacts> facts(std::string_view bytes) {
    auto both = texts(bytes);
    if (!both || both->size() != 2)
        return std::nullopt;
    return UnwindFacts{std::move((*both)[0]), std::move((*both)[1])};
}

std::string switches(const Switches& switches) {
    return texts({switches.objection, switches.record});
}

std::optional<Switches> switches(std::string_view bytes) {
    auto both = texts(bytes);
    if (!both || both->size() != 2 || (*both)[1].size() > record_limit)
        return std::nullopt;
    return Switches{std::move((*both)[0]), std::move((*both)[1])};
}

std::string go(const GoPlaces& go) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(go.runtime.has_value());
    put_plain(out, go.runtime.value_or(wire_go_runtime{}));
    out.varint(go.goroutine_end.has_value());
    out.varint(go.goroutine_end.value_or(0));
    out.varint(go.switches.size());
    for (const GoSwitchPlace& place : go.switches) {
        out.varint(place.what);
        out.varint(place.offset);
    }
    return bytes;
}

std::optional<GoPlaces> go(std::string_view bytes) {
    ByteReader in(bytes);
    GoPlaces go;
    const bool understood = in.boolean();
    const auto runtime = take_plain<wire_go_runtime>(in);
    const bool has_end = in.boolean();
    const uint64_t end = in.varint();
    if (understood)
        go.runtime = runtime;
    if (has_end)
        go.goroutine_end = end;
    go.switches = take_list(in, most_go_switches, [&] {
        GoSwitchPlace place{};
        place.what = static_cast<wire_go_switch>(in.varint_up_to(WIRE_GO_SWITCHES - 1));
        place.offset = in.varint();
        return place;
    });
    if (go.runtime && std::ranges::any_of(go.runtime->reason,
                                          [](uint8_t reason) { return reason >= WIRE_GO_REASONS; }))
        return std::nullopt;
    return whole(in, go);
}

std::string block(const ThreadLocalBlock& block) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(block.size);
    out.varint(block.error_number.has_value());
    out.varint(block.error_number.value_or(0));
    out.varint(block.slots.size());
    for (const ThreadLocalBlock::Slot& slot : block.slots) {
        out.varint(slot.address);
        out.varint(slot.variable);
    }
    out.varint(block.interpreter);
    return bytes;
}

// Its segments are auger's own to read.
std::optional<ThreadLocalBlock> block(std::string_view bytes) {
    ByteReader in(bytes);
    ThreadLocalBlock block;
    block.size = in.varint_up_to(INT32_MAX);
    const bool has_errno = in.boolean();
    const uint64_t error_number = in.varint_up_to(INT32_MAX);
    if (has_errno)
        block.error_number = error_number;
    block.slots = take_list(in, slot_limit, [&] {
        ThreadLocalBlock::Slot slot{};
        slot.address = in.varint();
        slot.variable = in.varint_up_to(INT32_MAX);
        return slot;
    });
    block.interpreter = in.boolean();
    return whole(in, std::move(block));
}

std::string variable(const Variable& variable) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(variable.has_value());
    if (variable)
        put_thread_variable(out, *variable);
    return bytes;
}

std::optional<Variable> variable(std::string_view bytes) {
    ByteReader in(bytes);
    if (!in.boolean())
        return whole(in, Variable());
    return whole(in, Variable(take_thread_variable(in)));
}

} // namespace auger::code_messages
