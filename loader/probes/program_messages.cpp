// SPDX-License-Identifier: GPL-3.0-or-later
// Of code_messages.h: what the kernel is to read and to compare.
#include "loader/probes/code_messages.h"
#include "loader/probes/message_parts.h"

#include <algorithm>

namespace auger::code_messages {
namespace {

constexpr size_t most_names = 1 << 16; // of an enumeration

constexpr int64_t most_record_bytes = 65'536; // of a tracepoint's, as perf bounds it

// The kernel's memory is read there, and nowhere else.
bool lies_in_record(const wire_fetch& fetch) {
    return fetch.offset[0] >= 0 && fetch.offset[0] < most_record_bytes &&
           (fetch.base != WIRE_BASE_DATA_LOC || fetch.constant < most_record_bytes);
}

// It is read when the call begins.
bool is_part_of_context(const wire_fetch& fetch) {
    const bool text = fetch.flags & WIRE_FETCH_STRING;
    return fetch.number < WIRE_CONTEXT_PARTS && text == (fetch.number == WIRE_CONTEXT_TRACE) &&
           !(fetch.flags & WIRE_FETCH_AT_END);
}

bool is_go_label(const wire_fetch& fetch) {
    return (fetch.flags & ~WIRE_FETCH_AT_END) == WIRE_FETCH_STRING && fetch.size > 0 &&
           fetch.size <= WIRE_GO_LABEL_KEY;
}

// The i-th is a string of the process's that is as long as a value says that is there by then.
bool has_length(const wire_call_program& program, size_t i) {
    const wire_fetch& fetch = program.fetch[i];
    return (fetch.flags & WIRE_FETCH_STRING) && fetch.length < i && !is_of_record(fetch) &&
           !((fetch.flags ^ program.fetch[fetch.length].flags) & WIRE_FETCH_AT_END);
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
        // What is computed is computed of what was fetched before.
        if (fetch.base == WIRE_BASE_COMPUTED &&
            (fetch.number >= i || (fetch.operand != WIRE_NO_VALUE && fetch.operand >= i) ||
             fetch.operation > WIRE_MODULO_SIGNED))
            return false;
        if ((fetch.flags & WIRE_FETCH_COUNTED) && !has_length(wire, i))
            return false;
        if (is_of_record(fetch) && !lies_in_record(fetch))
            return false;
        if (fetch.base == WIRE_BASE_CONTEXT && !is_part_of_context(fetch))
            return false;
        if (fetch.base == WIRE_BASE_GO_LABEL && !is_go_label(fetch))
            return false;
        if (fetch.base > WIRE_BASE_GO_LABEL || fetch.number > 16 || fetch.offsets < 1 ||
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
    format.kind = take_enum(in, ValueFormat::Kind::go_label);
    format.size = static_cast<uint8_t>(in.varint_up_to(UINT8_MAX));
    format.names = take_list(in, most_names, [&] {
        const int64_t value = in.zigzag();
        return std::pair(value, take_text(in));
    });
    return format;
}

} // namespace

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
        out.varint(shown.if_any);
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
        shown.if_any = in.boolean();
        return shown;
    });
    if (!in.failed() && !holds_together(program))
        in.fail();
    return whole(in, Program(std::optional<CallProgram>(std::move(program))));
}

} // namespace auger::code_messages
