// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/v8/v8_file.h"

#include "bpf/wire/v8.h"
#include "loader/base/bytes.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace auger {
namespace {

using C = V8Constant;

constexpr std::string_view prefix = "v8dbg_";

struct Name {
    std::string_view text;
    C constant;
};

// With no type behind them.
constexpr std::array whole_names = {
    Name{"TaggedSize", C::tagged_size},
    Name{"SmiShiftSize", C::smi_shift},
    Name{"HeapObjectTag", C::heap_tag},
    Name{"HeapObjectTagMask", C::heap_tag_mask},
    Name{"off_fp_context", C::frame_context},
    Name{"off_fp_function", C::frame_function},
    Name{"off_fp_bytecode_array", C::frame_bytecode},
    Name{"off_fp_bytecode_offset", C::frame_offset},
    Name{"InterpreterBytecodeOffsetRegister", C::offset_register},
    Name{"IsNotStringMask", C::not_string_mask},
    Name{"StringRepresentationMask", C::representation_mask},
    Name{"StringEncodingMask", C::encoding_mask},
    Name{"OneByteStringTag", C::one_byte_tag},
    Name{"ConsStringTag", C::cons_tag},
    Name{"ExternalStringTag", C::external_tag},
    Name{"SlicedStringTag", C::sliced_tag},
    Name{"ThinStringTag", C::thin_tag},
};

// With a type behind them: "class_Script__source__Object".
constexpr std::array typed_names = {
    Name{"class_Map__instance_type", C::map_type},
    Name{"class_JSFunction__shared", C::function_shared},
    Name{"class_SharedFunctionInfo__name_or_scope_info", C::shared_name},
    Name{"class_SharedFunctionInfo__script_or_debug_info", C::shared_script},
    Name{"class_SharedFunctionInfo__script", C::shared_script}, // since 12
    Name{"class_SharedFunctionInfo__flags", C::shared_flags},
    Name{"type_SharedFunctionInfo", C::shared_type},
    Name{"type_BytecodeArray", C::bytecode_type},
    Name{"class_BytecodeArray__data", C::bytecode_data},
    Name{"class_FixedArrayBase__length", C::array_length},
    Name{"type_InterpreterData", C::interpreter_data_type},
    Name{"type_Code", C::code_type},
    Name{"type_ScopeInfo", C::scope_type},
    Name{"type_Script", C::script_type},
    Name{"class_Script__source", C::script_source},
    Name{"class_Script__name", C::script_name},
    Name{"class_Script__line_ends", C::script_line_ends},
    Name{"class_String__length", C::string_length},
    Name{"class_SeqOneByteString__chars", C::one_byte_characters},
    Name{"class_SeqTwoByteString__chars", C::two_byte_characters},
    Name{"class_ConsString__first", C::cons_first},
    Name{"class_ConsString__second", C::cons_second},
    Name{"class_SlicedString__parent", C::sliced_parent},
    Name{"class_SlicedString__offset", C::sliced_offset},
    Name{"class_ThinString__actual", C::thin_actual},
    Name{"class_ExternalString__resource", C::external_resource},
};

constexpr std::array<std::string_view, 4> version_names = {
    "_ZN2v88internal7Version6major_E", "_ZN2v88internal7Version6minor_E",
    "_ZN2v88internal7Version6build_E", "_ZN2v88internal7Version6patch_E"};

} // namespace

std::optional<V8Constant> v8_constant_named(std::string_view variable) {
    if (!variable.starts_with(prefix))
        return std::nullopt;
    const std::string_view name = variable.substr(prefix.size());
    if (const auto found = std::ranges::find(whole_names, name, &Name::text);
        found != whole_names.end())
        return found->constant;
    const size_t type = name.rfind("__");
    const auto found = std::ranges::find(typed_names, name.substr(0, type), &Name::text);
    return type != name.npos && found != typed_names.end() ? std::optional(found->constant)
                                                           : std::nullopt;
}

std::optional<size_t> v8_version_part_named(std::string_view variable) {
    const auto found = std::ranges::find(version_names, variable);
    return found != version_names.end() ? std::optional<size_t>(found - version_names.begin())
                                        : std::nullopt;
}

std::string encode_v8_file(const V8File& file) {
    std::string bytes;
    ByteWriter out(bytes);
    for (const int32_t part : file.version)
        out.zigzag(part);
    for (const std::optional<int32_t>& constant : file.constants) {
        out.varint(constant.has_value());
        if (constant)
            out.zigzag(*constant);
    }
    out.varint(file.offset_places.size());
    uint64_t before = 0;
    for (const auto& [address, place] : file.offset_places) {
        out.varint(address - std::exchange(before, address));
        out.varint(place);
    }
    return bytes;
}

std::optional<V8File> decode_v8_file(std::string_view bytes) {
    ByteReader in(bytes);
    bool fits = true;
    const auto number = [&] {
        const int64_t value = in.zigzag();
        fits = fits && std::in_range<int32_t>(value);
        return static_cast<int32_t>(value);
    };
    V8File file;
    for (int32_t& part : file.version)
        part = number();
    for (std::optional<int32_t>& constant : file.constants)
        if (in.boolean())
            constant = number();
    const size_t places = in.varint_up_to(V8File::offset_places_limit);
    for (uint64_t address = 0; file.offset_places.size() < places && !in.failed();) {
        const uint64_t distance = in.varint();
        fits = fits && distance <= UINT64_MAX - address && (distance || file.offset_places.empty());
        address += distance;
        const auto place = in.varint_up_to((1u << WIRE_V8_PLACE_BITS) - 1);
        file.offset_places.push_back({address, static_cast<uint8_t>(place)});
    }
    if (in.failed() || !in.at_end() || !fits)
        return std::nullopt;
    return file;
}

} // namespace auger
