// SPDX-License-Identifier: GPL-3.0-or-later
// Of code_messages.h: places.
#include "loader/probes/code_messages.h"
#include "loader/probes/message_parts.h"

namespace auger::code_messages {
namespace {

constexpr size_t longest_instruction = 15; // bytes
constexpr uint8_t most_registers = 16;     // of a CallOperand
constexpr size_t most_places = 1 << 16;
constexpr size_t most_of_place = 1 << 16; // exits; functions that it may call
constexpr size_t most_notes = 64;

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
    return static_cast<uint8_t>(in.varint_up_to(no_condition));
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
    out.varint(exit.code.early);
    out.varint(exit.code.frame_distance);
    out.varint(exit.code.from_frame_pointer);
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
    exit.code.early = in.boolean();
    exit.code.frame_distance = static_cast<uint32_t>(in.varint_up_to(most_frame_distance));
    exit.code.from_frame_pointer = in.boolean();
    if (exit.code.frame_distance % 8 != 0)
        in.fail();
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

void put_usdt(ByteWriter& out, const UsdtSite& usdt) {
    for (const std::string* text : {&usdt.provider, &usdt.name, &usdt.arguments})
        put(out, *text);
    out.varint(usdt.semaphore);
}

UsdtSite take_usdt(ByteReader& in) {
    UsdtSite usdt;
    for (std::string* text : {&usdt.provider, &usdt.name, &usdt.arguments})
        *text = take_text(in);
    usdt.semaphore = in.varint();
    return usdt;
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
    out.varint(place.usdt.has_value());
    if (place.usdt)
        put_usdt(out, *place.usdt);
    put_entry(out, place.entry);
    out.varint(place.argument_entry.has_value());
    if (place.argument_entry)
        put_entry(out, *place.argument_entry);
    for (const std::vector<ExitPlace>* exits :
         {&place.exits, &place.cheap_exits, &place.tail_ends}) {
        out.varint(exits->size());
        for (const ExitPlace& exit : *exits)
            put_exit(out, exit);
    }
    put(out, place.no_return_probe);
    out.varint(place.in_go);
    put_texts(out, place.jumps_to);
    put_texts(out, place.notes);
}

PlaceMatch take_place(ByteReader& in, size_t modules) {
    PlaceMatch place{};
    place.kind = take_enum(in, PlaceKind::usdt);
    place.module = in.varint();
    place.name = take_text(in);
    place.mangled = take_text(in);
    place.address = in.varint();
    place.size = in.varint();
    place.file_offset = in.varint();
    if (in.boolean())
        place.site = take_site(in, modules);
    if (in.boolean())
        place.usdt = take_usdt(in);
    place.entry = take_entry(in);
    if (in.boolean())
        place.argument_entry = take_entry(in);
    for (std::vector<ExitPlace>* exits : {&place.exits, &place.cheap_exits, &place.tail_ends})
        *exits = take_list(in, most_of_place, [&] { return take_exit(in); });
    place.no_return_probe = take_text(in);
    place.in_go = in.boolean();
    place.jumps_to = take_texts(in, most_notes);
    place.notes = take_texts(in, most_notes);
    if (place.module >= modules || place.name.empty() ||
        place.site.has_value() != (place.kind == PlaceKind::call_site) ||
        place.usdt.has_value() != (place.kind == PlaceKind::usdt))
        in.fail();
    return place;
}

} // namespace

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

} // namespace auger::code_messages
