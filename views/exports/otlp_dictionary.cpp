// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/otlp_dictionary.h"

#include "views/escape.h"
#include "views/exports/otlp_fields.h"
#include "views/frame_text.h"

namespace auger {

namespace {

// Index 0 stands for what is not there, and is not written.
void put_index(protozero::pbf_writer& put, uint32_t field, int32_t index) {
    if (index != 0)
        put.add_int32(field, index);
}

template <typename Put>
int32_t enter(NumberedStrings& table, Put put_fields) {
    std::string bytes;
    {
        protozero::pbf_writer put(bytes);
        put_fields(put);
    }
    return table(std::move(bytes));
}

void put_table(protozero::pbf_writer& dictionary, uint32_t field, const NumberedStrings& table) {
    for (const std::string* entry : table.all())
        dictionary.add_bytes(field, *entry);
}

// As OpenTelemetry's conventions for `profile.frame.type` name it. Empty: they have no name for it.
std::string_view frame_type(ModuleKind kind) {
    switch (kind) {
    case ModuleKind::file:
    case ModuleKind::vdso:
        return "native";
    case ModuleKind::kernel:
        return "kernel";
    case ModuleKind::python:
        return "cpython";
    case ModuleKind::java:
        return "jvm";
    case ModuleKind::js:
        return "v8js";
    case ModuleKind::php:
        return "php";
    case ModuleKind::ruby:
        return "ruby";
    case ModuleKind::perl:
        return "perl";
    default:
        return {};
    }
}

// Whether addresses in it are those of code.
bool has_addresses(ModuleKind kind) {
    return kind == ModuleKind::file || kind == ModuleKind::kernel || kind == ModuleKind::vdso ||
           kind == ModuleKind::jit || kind == ModuleKind::unknown;
}

} // namespace

void put_otlp_text(protozero::pbf_writer& owner, uint32_t field, std::string_view raw) {
    protozero::pbf_writer value(owner, field);
    value.add_string(otlp::any_value::string_value, escape_untrusted(raw));
}

void put_otlp_attributes(protozero::pbf_writer& owner, uint32_t field,
                         std::vector<int32_t> attributes) {
    std::erase(attributes, 0);
    owner.add_packed_int32(field, attributes.begin(), attributes.end());
}

int32_t OtlpDictionary::string(std::string_view raw) {
    return strings_(escape_untrusted(raw));
}

int32_t OtlpDictionary::attribute(std::string_view key, std::string_view raw) {
    if (raw.empty())
        return 0;
    return enter(attributes_, [&](protozero::pbf_writer& put) {
        put.add_int32(otlp::key_value_and_unit::key_strindex, string(key));
        put_otlp_text(put, otlp::key_value_and_unit::value, raw);
    });
}

int32_t OtlpDictionary::attribute(std::string_view key, std::span<const std::string> raw) {
    if (raw.empty())
        return 0;
    return enter(attributes_, [&](protozero::pbf_writer& put) {
        put.add_int32(otlp::key_value_and_unit::key_strindex, string(key));
        protozero::pbf_writer value(put, otlp::key_value_and_unit::value);
        protozero::pbf_writer list(value, otlp::any_value::array_value);
        for (const std::string& text : raw)
            put_otlp_text(list, otlp::array_value::values, text);
    });
}

int32_t OtlpDictionary::mapping(const ModuleInfo& module) {
    return enter(mappings_, [&](protozero::pbf_writer& put) {
        put_index(put, otlp::mapping::filename_strindex, string(module.path));
        // Where it was mapped is not known any more: addresses are those of the file.
        put_otlp_attributes(put, otlp::mapping::attribute_indices,
                            {attribute("process.executable.build_id.gnu", module.build_id)});
    });
}

int32_t OtlpDictionary::function(const FrameEntry& entry) {
    return enter(functions_, [&](protozero::pbf_writer& put) {
        // Receivers turn it into a pprof profile, whose tools shorten names by what is in
        // parentheses.
        put_index(put, otlp::function::name_strindex,
                  string(frame_text(symbols_.name(entry.function))));
        put_index(put, otlp::function::filename_strindex, string(symbols_.text(entry.file)));
    });
}

int32_t OtlpDictionary::location(std::span<const ExportedFrame> lines) {
    const auto [known, is_new] = known_locations_.try_emplace(location_lines(lines));
    if (!is_new)
        return known->second;
    const Location place = symbols_.location(lines.front().location);
    const ModuleInfo& module = symbols_.module(place.module);
    known->second = enter(locations_, [&](protozero::pbf_writer& put) {
        put_index(put, otlp::location::mapping_index, mapping(module));
        if (has_addresses(module.kind) && place.address != 0)
            put.add_uint64(otlp::location::address, place.address);
        for (const ExportedFrame& frame : lines) {
            protozero::pbf_writer line(put, otlp::location::lines);
            line.add_int32(otlp::line::function_index, function(*frame.entry));
            if (frame.entry->line != 0)
                line.add_int64(otlp::line::line, frame.entry->line);
        }
        put_otlp_attributes(put, otlp::location::attribute_indices,
                            {attribute("profile.frame.type", frame_type(module.kind))});
    });
    return known->second;
}

int32_t OtlpDictionary::stack(std::span<const ExportedFrame> frames) {
    std::vector<int32_t> locations;
    for_each_location(frames, [&](std::span<const ExportedFrame> lines) {
        locations.push_back(location(lines));
    });
    return enter(stacks_, [&](protozero::pbf_writer& put) {
        put.add_packed_int32(otlp::stack::location_indices, locations.begin(), locations.end());
    });
}

int32_t OtlpDictionary::link(const TraceLink& link) {
    if (link.span.empty())
        return 0;
    return enter(links_, [&](protozero::pbf_writer& put) {
        put.add_bytes(otlp::link::trace_id, id_bytes(link.trace));
        put.add_bytes(otlp::link::span_id, id_bytes(link.span));
    });
}

void OtlpDictionary::write(protozero::pbf_writer& data) const {
    protozero::pbf_writer put(data, otlp::profiles_data::dictionary);
    put_table(put, otlp::dictionary::mapping_table, mappings_);
    put_table(put, otlp::dictionary::location_table, locations_);
    put_table(put, otlp::dictionary::function_table, functions_);
    put_table(put, otlp::dictionary::link_table, links_);
    put_table(put, otlp::dictionary::string_table, strings_);
    put_table(put, otlp::dictionary::attribute_table, attributes_);
    put_table(put, otlp::dictionary::stack_table, stacks_);
}

} // namespace auger
