// SPDX-License-Identifier: GPL-3.0-or-later
// Values as text. Strings of the target stay as they are: they are escaped where they are put out.
#include "loader/values/call_program.h"
#include "loader/values/error_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace auger {
namespace {

using Format = ValueFormat::Kind;

constexpr const char* none_text = "none"; // of ids

std::string number_text(int64_t value, const ValueFormat& format) {
    switch (format.kind) {
    case Format::unsigned_number:
        return fmt::format("{}", static_cast<uint64_t>(value));
    case Format::pointer:
        return value ? fmt::format("0x{:x}", static_cast<uint64_t>(value)) : "null";
    case Format::task:
        if (value == 0)
            return "null";
        [[fallthrough]]; // a number of tokio's, or a coroutine's address
    case Format::word:
        // What is too large for most numbers is most likely an address.
        return value >= INT32_MIN && value <= UINT32_MAX
                   ? fmt::format("{}", value)
                   : fmt::format("0x{:x}", static_cast<uint64_t>(value));
    case Format::boolean:
        return value == 0 ? "false" : value == 1 ? "true" : fmt::format("{}", value);
    case Format::character:
        return value >= ' ' && value < 0x7f
                   ? fmt::format("{} '{}'", value, static_cast<char>(value))
                   : fmt::format("{}", value);
    case Format::enumeration:
        for (const auto& [number, name] : format.names)
            if (number == value)
                return fmt::format("{} ({})", name, value);
        return fmt::format("{}", value);
    case Format::error_number:
        if (const std::string name = error_name(value); !name.empty())
            return fmt::format("{} ({})", name, value);
        return fmt::format("{}", value);
    case Format::span_id:
        return value ? fmt::format("{:016x}", static_cast<uint64_t>(value)) : none_text;
    default:
        return fmt::format("{}", value);
    }
}

// The bytes before the first NUL.
std::string_view bytes_of(std::string_view slot) {
    return slot.substr(0, slot.find('\0'));
}

std::string string_text(std::string_view slot) {
    const std::string_view bytes = bytes_of(slot);
    // As much as a slot holds: there was more, or nobody knows.
    const bool cut = bytes.size() >= WIRE_STRING - 1;
    return fmt::format("\"{}\"{}", bytes, cut ? "..." : "");
}

std::string trace_text(std::string_view slot) {
    const std::string_view digits = bytes_of(slot);
    return digits.empty() ? none_text : std::string(digits);
}

std::string label_text(std::string_view slot) {
    return bytes_of(slot).empty() ? none_text : string_text(slot);
}

bool says_failed(const ValueFormat& format, int64_t result) {
    return result == -1 || (format.kind == Format::pointer && result == 0);
}

CallValue shown_value(const CallProgram& program, const ShownValue& shown,
                      const wire_values& values, const DescribeDescriptor& describe,
                      const DescribeTask& describe_task) {
    const ValueFormat& format = program.formats[shown.value];
    const auto value = static_cast<int64_t>(values.value[shown.value]);
    if (!(values.readable >> shown.value & 1)) {
        if (format.kind == Format::string && value == 0)
            return {shown.name, "null", true};
        return {shown.name,
                value ? fmt::format("unreadable (address 0x{:x})", static_cast<uint64_t>(value))
                      : "unreadable",
                false};
    }
    if (format.kind == Format::string) {
        const uint8_t slot = program.wire.fetch[shown.value].string;
        if (slot >= WIRE_MAX_STRINGS)
            return {shown.name, "unreadable", false};
        return {shown.name, string_text({values.string[slot], WIRE_STRING}), true};
    }
    if (format.kind == Format::trace_id || format.kind == Format::go_label) {
        const uint8_t slot = program.wire.fetch[shown.value].string;
        if (slot >= WIRE_MAX_STRINGS)
            return {shown.name, "unreadable", false};
        const std::string_view text(values.string[slot], WIRE_STRING);
        return {shown.name, format.kind == Format::trace_id ? trace_text(text) : label_text(text),
                true};
    }
    CallValue text{shown.name, number_text(value, format), true};
    if (format.kind == Format::descriptor && value >= 0 && describe)
        if (const std::string what = describe(static_cast<uint64_t>(value)); !what.empty())
            text.text += fmt::format(" ({})", what);
    if (format.kind == Format::task && value && describe_task)
        if (const std::string name = describe_task(static_cast<uint64_t>(value)); !name.empty())
            text.text += fmt::format(" ({})", name);
    return text;
}

} // namespace

std::vector<CallValue> format_values(const CallProgram& program, const wire_values& values,
                                     const DescribeDescriptor& describe,
                                     const DescribeTask& describe_task) {
    std::vector<CallValue> texts;
    for (const ShownValue& shown : program.shown) {
        if (shown.failed_by && (!(values.readable >> *shown.failed_by & 1) ||
                                !says_failed(program.formats[*shown.failed_by],
                                             static_cast<int64_t>(values.value[*shown.failed_by]))))
            continue;
        CallValue value = shown_value(program, shown, values, describe, describe_task);
        if (!shown.if_any || value.text != none_text)
            texts.push_back(std::move(value));
    }
    return texts;
}

std::string format_label(const CallProgram& program, uint32_t kind, uint64_t value,
                         std::string_view text) {
    if (kind == WIRE_LABEL_STRING) {
        const std::string_view bytes = bytes_of(text);
        const uint8_t label = program.wire.label;
        const Format format =
            label < program.formats.size() ? program.formats[label].kind : Format::string;
        // Those two are none where they are empty.
        const bool is_id = format == Format::trace_id || format == Format::go_label;
        return !bytes.empty() ? std::string(bytes) : is_id ? none_text : "\"\"";
    }
    if (kind != WIRE_LABEL_NUMBER)
        return "unreadable";
    const uint8_t label = program.wire.label;
    return number_text(static_cast<int64_t>(value),
                       label < program.formats.size() ? program.formats[label] : ValueFormat{});
}

} // namespace auger
