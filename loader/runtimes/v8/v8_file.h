// SPDX-License-Identifier: GPL-3.0-or-later
// What a file says that holds V8 (node, libnode.so): made where it is read, and used elsewhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// What V8 says of itself for debuggers, in variables named v8dbg_...: offsets in bytes, types,
// bits.
enum class V8Constant : uint8_t {
    tagged_size,
    smi_shift,
    heap_tag,
    heap_tag_mask,
    frame_context, // from the frame pointer
    frame_function,
    frame_bytecode,
    frame_offset,
    offset_register, // as the processor numbers them
    map_type,
    function_shared,
    shared_name,
    shared_script,
    shared_flags,
    shared_type,
    bytecode_type,
    bytecode_data,
    array_length,
    interpreter_data_type,
    code_type,
    scope_type,
    script_type,
    script_source,
    script_name,
    script_line_ends,
    string_length,
    one_byte_characters,
    two_byte_characters,
    cons_first,
    cons_second,
    sliced_parent,
    sliced_offset,
    thin_actual,
    external_resource,
    not_string_mask,
    representation_mask,
    encoding_mask,
    one_byte_tag,
    cons_tag,
    external_tag,
    sliced_tag,
    thin_tag,
    count_,
};

// From an address as linked on, up to the next one: where the code there has the offset of the
// bytecode that it executes.
struct V8OffsetPlace {
    uint64_t address;
    uint8_t place; // wire_v8_place

    friend bool operator==(const V8OffsetPlace&, const V8OffsetPlace&) = default;
};

struct V8File {
    static constexpr size_t offset_places_limit = 1 << 16;
    static constexpr size_t constants_count = static_cast<size_t>(V8Constant::count_);

    // 11.3.244.8; 0.0.0.0: it does not say.
    std::array<int32_t, 4> version{};
    std::array<std::optional<int32_t>, constants_count> constants{};
    // Of all handlers, by address; none when the file does not say where they are.
    std::vector<V8OffsetPlace> offset_places{};

    std::optional<int32_t> operator[](V8Constant constant) const {
        return constants[static_cast<size_t>(constant)];
    }
    friend bool operator==(const V8File&, const V8File&) = default;
};

// Which one a variable has of this name. Behind what is named stands its type, which differs
// between versions.
std::optional<V8Constant> v8_constant_named(std::string_view variable);
// Where in a version; as v8_constant_named().
std::optional<size_t> v8_version_part_named(std::string_view variable);

std::string encode_v8_file(const V8File& file);
std::optional<V8File> decode_v8_file(std::string_view bytes);

} // namespace auger
