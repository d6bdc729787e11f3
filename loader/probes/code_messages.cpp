// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_messages.h"

#include "loader/symbols/elf_messages.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace auger::code_messages {
namespace {

using elf_messages::whole;

constexpr size_t longest_instruction = 15; // bytes
constexpr uint8_t most_registers = 16;     // of a CallOperand
constexpr size_t slot_limit = 16;          // of a ThreadLocalBlock
// Of lists; what is honest has far fewer.
constexpr size_t most_places = 1 << 16;
constexpr size_t most_of_place = 1 << 16; // exits; functions that it may call
constexpr size_t most_notes = 64;
constexpr size_t most_texts = 1 << 14;
constexpr size_t most_names = 1 << 16; // of an enumeration

void put(ByteWriter& out, std::string_view text) {
    out.string(text.substr(0, text_limit));
}

std::string take_text(ByteReader& in) {
    return std::string(in.string(text_limit));
}

template <typename Enum>
Enum take_enum(ByteReader& in, Enum last) {
    return static_cast<Enum>(in.varint_up_to(static_cast<uint64_t>(last)));
}

void put_texts(ByteWriter& out, const std::vector<std::string>& texts) {
    out.varint(texts.size());
    for (const std::string& text : texts)
        put(out, text);
}

// Grows with what was read only: what an answer claims costs nothing.
template <typename Take>
auto take_list(ByteReader& in, size_t most, const Take& take) {
    std::vector<decltype(take())> list;
    for (size_t left = in.varint_up_to(most); left > 0 && !in.failed(); left--)
        list.push_back(take());
    return list;
}

std::vector<std::string> take_texts(ByteReader& in, size_t most) {
    return take_list(in, most, [&] { return take_text(in); });
}

// Structs of the kernel's side, whose bytes are what they are.
template <typename T>
void put_plain(ByteWriter& out, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.string({reinterpret_cast<const char*>(&value), sizeof value});
}

template <typename T>
T take_plain(ByteReader& in) {
    T value{};
    const std::string_view bytes = in.string(sizeof value);
    if (bytes.size() == sizeof value)
        std::memcpy(&value, bytes.data(), sizeof value);
    else
        in.fail();
    return value;
}

void put_error(ByteWriter& out, const Error& error) {
    for (const std::string* text : {&error.operation, &error.subject, &error.cause, &error.hint})
        put(out, *text);
    out.varint(static_cast<uint64_t>(error.kind));
    out.varint(error.at.has_value());
    const Error::Range range = error.at.value_or(Error::Range{});
    out.varint(range.offset);
    out.varint(range.length);
}

Error take_error(ByteReader& in) {
    Error error;
    for (std::string* text : {&error.operation, &error.subject, &error.cause, &error.hint})
        *text = take_text(in);
    error.kind = take_enum(in, Error::Kind::unsupported);
    const bool has_range = in.boolean();
    // It is shown below the text.
    const Error::Range range{in.varint_up_to(text_limit), in.varint_up_to(text_limit)};
    if (has_range)
        error.at = range;
    return error;
}

void put_program_request(ByteWriter& out, const ProgramRequest& request) {
    put(out, request.conditions.only_if);
    put(out, request.conditions.slow_if);
    put_texts(out, request.conditions.show);
    out.varint(request.conditions.show_default);
    put(out, request.split_if);
    out.varint(request.split_mark);
    put(out, request.split_by);
    out.varint(request.traces_slow);
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
    return request;
}

void put_entry(ByteWriter& out, const EntryPlace& entry) {
    out.varint(entry.address);
    out.varint(entry.file_offset);
    out.varint(static_cast<uint64_t>(entry.cost));
    out.varint(entry.repeats);
}

// A probe that the kernel refuses is none.
ProbeCost take_cost(ByteReader& in) {
    return take_enum(in, ProbeCost::single_stepped);
}

uint8_t take_condition(ByteReader& in) {
    return static_cast<uint8_t>(in.varint_up_to(Instruction::no_condition));
}

EntryPlace take_entry(ByteReader& in) {
    EntryPlace entry{};
    entry.address = in.varint();
    entry.file_offset = in.varint();
    entry.cost = take_cost(in);
    entry.repeats = take_condition(in);
    return entry;
}

void put_exit(ByteWriter& out, const ExitPlace& exit) {
    out.varint(exit.file_offset);
    out.varint(exit.code.address);
    out.varint(static_cast<uint64_t>(exit.code.kind));
    out.varint(exit.code.conditional);
    out.varint(exit.code.indirect);
    out.varint(exit.code.to_itself);
    out.varint(static_cast<uint64_t>(exit.code.cost));
    out.varint(exit.code.target);
    out.varint(exit.code.condition);
}

ExitPlace take_exit(ByteReader& in) {
    ExitPlace exit{};
    exit.file_offset = in.varint();
    exit.code.address = in.varint();
    exit.code.kind = take_enum(in, ExitKind::jump);
    exit.code.conditional = in.boolean();
    exit.code.indirect = in.boolean();
    exit.code.to_itself = in.boolean();
    exit.code.cost = take_cost(in);
    exit.code.target = in.varint();
    exit.code.condition = take_condition(in);
    return exit;
}

void put_callee(ByteWriter& out, const CallSite::Callee& callee) {
    out.varint(callee.module);
    out.varint(callee.address);
}

CallSite::Callee take_callee(ByteReader& in, size_t modules) {
    const size_t module = in.varint();
    if (module >= modules)
        in.fail();
    return {module, in.varint()};
}

void put_site(ByteWriter& out, const CallSite& site) {
    put(out, site.function);
    out.varint(site.callee.has_value());
    if (site.callee)
        put_callee(out, *site.callee);
    put(out, site.caller);
    put(out, site.file);
    out.varint(site.line);
    out.varint(site.length);
    out.varint(site.jump);
    out.varint(site.caller_address);
    out.varint(site.pointer.has_value());
    if (!site.pointer)
        return;
    const CallOperand& operand = site.pointer->operand;
    out.varint(operand.memory);
    out.varint(operand.base);
    out.varint(operand.index);
    out.varint(operand.scale);
    out.varint(operand.displacement);
    out.varint(site.pointer->callees.size());
    for (const CallSite::Callee& callee : site.pointer->callees)
        put_callee(out, callee);
}

CallSite take_site(ByteReader& in, size_t modules) {
    CallSite site{};
    site.function = take_text(in);
    if (in.boolean())
        site.callee = take_callee(in, modules);
    site.caller = take_text(in);
    site.file = take_text(in);
    site.line = in.varint32();
    site.length = static_cast<uint8_t>(in.varint_up_to(longest_instruction));
    site.jump = in.boolean();
    site.caller_address = in.varint();
    if (!in.boolean())
        return site;
    CallSite::Pointer pointer{};
    pointer.operand.memory = in.boolean();
    pointer.operand.base = static_cast<uint8_t>(in.varint_up_to(most_registers));
    pointer.operand.index = static_cast<uint8_t>(in.varint_up_to(most_registers));
    pointer.operand.scale = static_cast<uint8_t>(in.varint_up_to(8));
    pointer.operand.displacement = in.varint();
    pointer.callees = take_list(in, most_of_place, [&] { return take_callee(in, modules); });
    site.pointer = std::move(pointer);
    return site;
}

void put_place(ByteWriter& out, const PlaceMatch& place) {
    out.varint(static_cast<uint64_t>(place.kind));
    out.varint(place.module);
    put(out, place.name);
    put(out, place.mangled);
    out.varint(place.address);
    out.varint(place.size);
    out.varint(place.file_offset);
    out.varint(place.site.has_value());
    if (place.site)
        put_site(out, *place.site);
    put_entry(out, place.entry);
    out.varint(place.argument_entry.has_value());
    if (place.argument_entry)
        put_entry(out, *place.argument_entry);
    out.varint(place.exits.size());
    for (const ExitPlace& exit : place.exits)
        put_exit(out, exit);
    put(out, place.no_return_probe);
    out.varint(place.in_go);
    put_texts(out, place.jumps_to);
    put_texts(out, place.notes);
}

PlaceMatch take_place(ByteReader& in, size_t modules) {
    PlaceMatch place{};
    place.kind = take_enum(in, PlaceKind::call_site);
    place.module = in.varint();
    place.name = take_text(in);
    place.mangled = take_text(in);
    place.address = in.varint();
    place.size = in.varint();
    place.file_offset = in.varint();
    if (in.boolean())
        place.site = take_site(in, modules);
    place.entry = take_entry(in);
    if (in.boolean())
        place.argument_entry = take_entry(in);
    place.exits = take_list(in, most_of_place, [&] { return take_exit(in); });
    place.no_return_probe = take_text(in);
    place.in_go = in.boolean();
    place.jumps_to = take_texts(in, most_notes);
    place.notes = take_texts(in, most_notes);
    if (place.module >= modules || place.name.empty() ||
        place.site.has_value() != (place.kind == PlaceKind::call_site))
        in.fail();
    return place;
}

// Whoever reads the values that come back finds them by these indices.
bool holds_together(const CallProgram& program) {
    const wire_call_program& wire = program.wire;
    if (wire.fetches > WIRE_MAX_VALUES || wire.comparisons > WIRE_MAX_COMPARISONS ||
        program.formats.size() != wire.fetches ||
        (wire.label != WIRE_NO_LABEL && wire.label >= wire.fetches) || wire.judges_end > 1)
        return false;
    for (size_t i = 0; i < wire.fetches; i++) {
        const wire_fetch& fetch = wire.fetch[i];
        const bool text = fetch.flags & WIRE_FETCH_STRING;
        if (fetch.base > WIRE_BASE_THREAD || fetch.number > 16 || fetch.offsets < 1 ||
            fetch.offsets > WIRE_MAX_OFFSETS || (text && fetch.string >= WIRE_MAX_STRINGS) ||
            (text ? fetch.size > WIRE_STRING : fetch.size > sizeof(uint64_t)) ||
            fetch.bit_shift >= 64 || fetch.bit_size > 64)
            return false;
    }
    for (size_t i = 0; i < wire.comparisons; i++) {
        const wire_comparison& comparison = wire.comparison[i];
        if (comparison.value >= wire.fetches || comparison.operation > WIRE_BITS_CLEAR ||
            ((comparison.flags & WIRE_COMPARE_VALUES) && comparison.constant >= wire.fetches) ||
            ((comparison.flags & WIRE_COMPARE_STRING) && comparison.constant >= WIRE_MAX_STRINGS))
            return false;
    }
    for (const wire_predicate& predicate : wire.predicate)
        if (predicate.clauses > WIRE_MAX_CLAUSES || predicate.at_end > 1)
            return false;
    for (const ShownValue& shown : program.shown)
        if (shown.value >= wire.fetches || (shown.failed_by && *shown.failed_by >= wire.fetches))
            return false;
    return true;
}

void put_format(ByteWriter& out, const ValueFormat& format) {
    out.varint(static_cast<uint64_t>(format.kind));
    out.varint(format.size);
    const size_t names = std::min(format.names.size(), most_names);
    out.varint(names);
    for (size_t i = 0; i < names; i++) {
        out.zigzag(format.names[i].first);
        put(out, format.names[i].second);
    }
}

ValueFormat take_format(ByteReader& in) {
    ValueFormat format;
    format.kind = take_enum(in, ValueFormat::Kind::descriptor);
    format.size = static_cast<uint8_t>(in.varint_up_to(UINT8_MAX));
    format.names = take_list(in, most_names, [&] {
        const int64_t value = in.zigzag();
        return std::pair(value, take_text(in));
    });
    return format;
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
    return bytes;
}

std::optional<Request> request(std::string_view bytes) {
    ByteReader in(bytes);
    Request request;
    request.kind = take_enum(in, Kind::block);
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

std::string places(const Places& places) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(places.matches.ok());
    if (!places.matches) {
        put_error(out, places.matches.error());
        out.varint(places.absent);
        return bytes;
    }
    out.varint(places.matches->places.size());
    for (const PlaceMatch& place : places.matches->places)
        put_place(out, place);
    out.varint(places.matches->skipped.size());
    for (const SkippedPlace& skipped : places.matches->skipped) {
        out.varint(skipped.module);
        put(out, skipped.name);
        put(out, skipped.reason);
    }
    put_texts(out, places.matches->notes);
    return bytes;
}

std::optional<Places> places(std::string_view bytes, size_t modules) {
    ByteReader in(bytes);
    if (!in.boolean()) {
        Error error = take_error(in);
        const bool absent = in.boolean();
        return whole(in, Places{std::move(error), absent});
    }
    ProbeMatches matches;
    matches.places = take_list(in, most_places, [&] { return take_place(in, modules); });
    matches.skipped = take_list(in, most_places, [&] {
        SkippedPlace skipped{};
        skipped.module = in.varint();
        skipped.name = take_text(in);
        skipped.reason = take_text(in);
        if (skipped.module >= modules)
            in.fail();
        return skipped;
    });
    matches.notes = take_texts(in, most_texts);
    // Something was found.
    if (matches.places.empty() && matches.skipped.empty())
        in.fail();
    return whole(in, Places{std::move(matches), false});
}

std::string program(const Program& program) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(program.ok());
    if (!program) {
        put_error(out, program.error());
        return bytes;
    }
    out.varint(program->has_value());
    if (!*program)
        return bytes;
    put_plain(out, (**program).wire);
    out.varint((**program).formats.size());
    for (const ValueFormat& format : (**program).formats)
        put_format(out, format);
    out.varint((**program).shown.size());
    for (const ShownValue& shown : (**program).shown) {
        put(out, shown.name);
        out.varint(shown.value);
        out.varint(shown.failed_by.has_value());
        out.varint(shown.failed_by.value_or(0));
    }
    return bytes;
}

std::optional<Program> program(std::string_view bytes) {
    ByteReader in(bytes);
    if (!in.boolean()) {
        Error error = take_error(in);
        return whole(in, Program(std::move(error)));
    }
    if (!in.boolean())
        return whole(in, Program(std::optional<CallProgram>()));
    CallProgram program;
    program.wire = take_plain<wire_call_program>(in);
    program.formats = take_list(in, WIRE_MAX_VALUES, [&] { return take_format(in); });
    program.shown = take_list(in, most_texts, [&] {
        ShownValue shown;
        shown.name = take_text(in);
        shown.value = static_cast<uint8_t>(in.varint_up_to(UINT8_MAX));
        const bool fails = in.boolean();
        const auto failed_by = static_cast<uint8_t>(in.varint_up_to(UINT8_MAX));
        if (fails)
            shown.failed_by = failed_by;
        return shown;
    });
    if (!in.failed() && !holds_together(program))
        in.fail();
    return whole(in, Program(std::optional<CallProgram>(std::move(program))));
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

} // namespace auger::code_messages
