// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/tracepoints/event_format.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace auger {
namespace {

constexpr size_t most_fields = 512;
constexpr uint32_t most_bytes = 65'536; // a record's, as perf bounds it
constexpr std::string_view common = "common_";

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == text.npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix))
        return false;
    text.remove_prefix(prefix.size());
    return true;
}

// "unsigned long args[6]", "__data_loc char[] cmd", "const char * filename".
bool read_declaration(std::string_view text, EventField& field) {
    field.dynamic = take_prefix(text, "__data_loc ");
    field.relative = !field.dynamic && take_prefix(text, "__rel_loc ");
    text = trimmed(text);
    std::string_view type, name, brackets;
    if (field.dynamic || field.relative) {
        const size_t blank = text.rfind(' ');
        if (blank == text.npos)
            return false;
        type = text.substr(0, blank);
        name = text.substr(blank + 1);
        if (const size_t open = type.find('['); open != type.npos)
            type = type.substr(0, open);
        field.is_array = true;
    } else {
        if (text.ends_with(']')) {
            const size_t open = text.rfind('[');
            if (open == text.npos)
                return false;
            brackets = text.substr(open + 1, text.size() - open - 2);
            text = trimmed(text.substr(0, open));
            field.is_array = true;
        }
        const size_t before = text.find_last_of(" *");
        if (before == text.npos)
            return false;
        type = text.substr(0, before + 1);
        name = text.substr(before + 1);
    }
    field.type = trimmed(type);
    field.name = name;
    // A constant of the kernel's may stand there, too.
    if (field.is_array && !read_number(trimmed(brackets), field.elements))
        field.elements = 0;
    return !field.type.empty() && !field.name.empty();
}

// "field:int flags;	offset:32;	size:8;	signed:0;"
std::optional<EventField> read_field(std::string_view line) {
    EventField field;
    bool has_offset = false, has_size = false;
    for (size_t part = 0; !line.empty(); ++part) {
        const size_t end = line.find(';');
        std::string_view text = trimmed(line.substr(0, end));
        line = end == line.npos ? std::string_view() : line.substr(end + 1);
        uint32_t sign = 0;
        if (part == 0) {
            if (!take_prefix(text, "field:") || !read_declaration(text, field))
                return std::nullopt;
        } else if (take_prefix(text, "offset:")) {
            has_offset = read_number(text, field.offset);
        } else if (take_prefix(text, "size:")) {
            has_size = read_number(text, field.size);
        } else if (take_prefix(text, "signed:")) {
            if (!read_number(text, sign))
                return std::nullopt;
            field.is_signed = sign != 0;
        } else if (!text.empty()) {
            return std::nullopt;
        }
    }
    if (!has_offset || !has_size || field.offset >= most_bytes || field.size > most_bytes ||
        ((field.dynamic || field.relative) && field.size != sizeof(uint32_t)))
        return std::nullopt;
    if (field.elements && field.size % field.elements != 0)
        field.elements = 0;
    return field;
}

Error not_understood(size_t line, std::string_view text) {
    return {"read the format", "", fmt::format("line {} is not understood: {}", line, text),
            "other fields than those of this tracepoint can be read", Error::Kind::unsupported};
}

} // namespace

Result<EventFormat> parse_event_format(std::string_view text) {
    EventFormat format;
    bool has_id = false, in_fields = false;
    for (size_t number = 1; !text.empty(); ++number) {
        const size_t end = text.find('\n');
        const std::string_view whole = text.substr(0, end);
        text = end == text.npos ? std::string_view() : text.substr(end + 1);
        std::string_view line = trimmed(whole);
        if (line.starts_with("print fmt:"))
            break;
        if (line.empty())
            continue;
        if (!in_fields && take_prefix(line, "name:")) {
            format.name = trimmed(line);
        } else if (!in_fields && take_prefix(line, "ID:")) {
            has_id = read_number(trimmed(line), format.id);
        } else if (line == "format:") {
            in_fields = true;
        } else if (in_fields) {
            auto field = read_field(line);
            if (!field || format.fields.size() == most_fields)
                return not_understood(number, line);
            if (!field->name.starts_with(common))
                format.fields.push_back(*std::move(field));
        } else {
            return not_understood(number, line);
        }
    }
    if (!has_id || format.name.empty())
        return Error{
            "read the format", "", "it has no name and number", {}, Error::Kind::unsupported};
    return format;
}

std::string field_names(const EventFormat& format) {
    std::string names;
    for (const EventField& field : format.fields)
        names += (names.empty() ? "" : ", ") + field.name;
    return names.empty() ? "none" : names;
}

} // namespace auger
