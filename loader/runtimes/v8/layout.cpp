// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/v8/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace auger {
namespace {

using C = V8Constant;

// What V8 does not say of itself.
struct Version {
    int32_t major, minor;
    uint32_t shared_data;
    uint32_t unique_behind_flags; // a SharedFunctionInfo's number; 0: there is none
    uint32_t bytecode_positions;
    uint32_t code_bytecode;
    uint32_t flags_in_integer; // 4: a ScopeInfo's flags are a small integer; 0: they are not
    uint32_t scope_variables;
    uint32_t scope_begins_with_place;
    uint32_t scope_module;
    // Of code; since 13 functions have it in a table of its own: 0.
    uint32_t function_code;
    uint32_t code_start; // 0: in itself, at code_instructions
    uint32_t code_instructions;
    uint32_t code_size;
    uint32_t code_positions;
};

constexpr std::array versions = {
    Version{10, 2, 8, 0, 32, 16, 4, 32, 0, 3, 48, 0, 128, 40, 24}, // Node 18
    Version{11, 3, 8, 0, 32, 16, 4, 32, 0, 3, 48, 40, 0, 56, 24},  // Node 20
    Version{12, 4, 8, 8, 24, 8, 4, 32, 0, 3, 24, 40, 0, 52, 16},   // Node 22
    Version{13, 6, 8, 8, 24, 8, 0, 32, 1, 5, 0, 0, 0, 0, 0},       // Node 24
};

// The same in all of them.
constexpr uint32_t literal_behind_flags = 4, id_behind_line_ends = 8, data_behind_length = 8;
constexpr uint32_t interpreter_data_bytecode = 8, scope_flags = 8, scope_locals = 24;
constexpr uint32_t data_behind_resource = 8;
constexpr int32_t word_bytes = 8, smi_shift = 31, user_types = 0xffff;
// Of what the file says, which may be anything: in an object, and in a frame.
constexpr int32_t object_limit = 4096, frame_limit = 256;

Error unknown(const V8File& file, const std::string& cause) {
    const auto& [major, minor, build, patch] = file.version;
    return {"show JavaScript functions",
            fmt::format("of V8 {}.{}.{}.{}", major, minor, build, patch), cause,
            "generated code is shown by its addresses instead", Error::Kind::unsupported};
}

// Reads constants within bounds.
class Constants {
  public:
    explicit Constants(const V8File& file) : file_(file) {}

    uint32_t number(C constant, int32_t least, int32_t most, int32_t unit = 1) {
        const auto value = file_[constant];
        if (value && *value >= least && *value <= most && *value % unit == 0)
            return static_cast<uint32_t>(*value);
        failed_ = true;
        return 0;
    }
    // Where a word is in an object, and where 32 bits are.
    uint32_t word(C constant) { return number(constant, word_bytes, object_limit, word_bytes); }
    uint32_t half(C constant) { return number(constant, word_bytes, object_limit, 4); }
    uint32_t type(C constant) { return number(constant, 0, user_types); }
    // A word below the frame pointer.
    uint32_t below(C constant) {
        const auto value = file_[constant];
        if (value && *value <= -word_bytes && *value >= -frame_limit && *value % word_bytes == 0)
            return static_cast<uint32_t>(-*value);
        failed_ = true;
        return 0;
    }
    bool failed() const { return failed_; }

  private:
    const V8File& file_;
    bool failed_ = false;
};

wire_v8 walk_layout(Constants& constants, const Version& version) {
    wire_v8 walk{};
    walk.frame_context = constants.below(C::frame_context);
    walk.frame_function = constants.below(C::frame_function);
    walk.frame_bytecode = constants.below(C::frame_bytecode);
    walk.frame_offset = constants.below(C::frame_offset);
    walk.map_type = constants.number(C::map_type, word_bytes, object_limit, 2);
    walk.function_shared = constants.word(C::function_shared);
    walk.shared_data = version.shared_data;
    walk.shared_name = constants.word(C::shared_name);
    walk.shared_script = constants.word(C::shared_script);
    const uint32_t flags = constants.half(C::shared_flags);
    walk.shared_literal = flags + literal_behind_flags;
    walk.shared_unique =
        version.unique_behind_flags ? flags + version.unique_behind_flags : walk.shared_literal;
    walk.shared_type = constants.type(C::shared_type);
    walk.bytecode_type = constants.type(C::bytecode_type);
    walk.function_code = version.function_code;
    walk.code_start = version.code_start;
    walk.code_instructions = version.code_instructions;
    walk.code_size = version.code_size;
    const uint32_t last =
        std::max({walk.shared_data + 4, walk.shared_name + 4, walk.shared_script + 4,
                  walk.shared_unique, walk.shared_literal});
    walk.shared_bytes = last + 4;
    return walk;
}

V8Objects object_layout(Constants& constants, const Version& version, const wire_v8& walk) {
    V8Objects objects{};
    objects.map_type = walk.map_type;
    objects.array_length = constants.word(C::array_length);
    objects.array_data = objects.array_length + data_behind_length;
    objects.bytecode_length = objects.array_length;
    objects.bytecode_positions = version.bytecode_positions;
    objects.bytecode_data = constants.number(C::bytecode_data, word_bytes, object_limit);
    objects.interpreter_data_type = constants.type(C::interpreter_data_type);
    objects.interpreter_data_bytecode = interpreter_data_bytecode;
    objects.code_type = constants.type(C::code_type);
    objects.code_bytecode = version.code_bytecode;
    objects.code_data = version.code_bytecode;
    objects.code_positions = version.code_positions;
    objects.scope_type = constants.type(C::scope_type);
    objects.scope_flags = scope_flags + version.flags_in_integer;
    objects.scope_locals = scope_locals;
    objects.scope_variables = version.scope_variables;
    objects.scope_begins_with_place = version.scope_begins_with_place;
    objects.scope_module = version.scope_module;
    objects.script_type = constants.type(C::script_type);
    objects.script_source = constants.word(C::script_source);
    objects.script_name = constants.word(C::script_name);
    objects.script_id = constants.word(C::script_line_ends) + id_behind_line_ends;
    objects.string_length = constants.half(C::string_length);
    objects.one_byte_characters = constants.half(C::one_byte_characters);
    objects.two_byte_characters = constants.half(C::two_byte_characters);
    objects.cons_first = constants.word(C::cons_first);
    objects.cons_second = constants.word(C::cons_second);
    objects.sliced_parent = constants.word(C::sliced_parent);
    objects.sliced_offset = constants.word(C::sliced_offset);
    objects.thin_actual = constants.word(C::thin_actual);
    objects.external_data = constants.word(C::external_resource) + data_behind_resource;
    // -128: all bits above.
    objects.not_string_mask =
        static_cast<uint16_t>(constants.number(C::not_string_mask, -user_types, user_types));
    objects.representation_mask = constants.type(C::representation_mask);
    objects.encoding_mask = constants.type(C::encoding_mask);
    objects.one_byte_tag = constants.type(C::one_byte_tag);
    objects.cons_tag = constants.type(C::cons_tag);
    objects.external_tag = constants.type(C::external_tag);
    objects.sliced_tag = constants.type(C::sliced_tag);
    objects.thin_tag = constants.type(C::thin_tag);
    return objects;
}

// Pointers and small integers are words: they are not where pointers are compressed.
bool has_whole_words(const V8File& file) {
    return file[C::tagged_size] == word_bytes && file[C::smi_shift] == smi_shift &&
           file[C::heap_tag] == WIRE_V8_TAG && file[C::heap_tag_mask] == WIRE_V8_TAG_MASK;
}

} // namespace

Result<V8Layout> v8_layout(const V8File& file) {
    const auto version = std::ranges::find_if(versions, [&](const Version& one) {
        return one.major == file.version[0] && one.minor == file.version[1];
    });
    if (version == versions.end())
        return unknown(file,
                       "auger knows the objects of 10.2, 11.3, 12.4 and 13.6 (Node 18 to 24)");
    if (std::ranges::none_of(file.constants, [](const auto& one) { return one.has_value(); }))
        return unknown(file, "its file does not say where its objects are (v8dbg_...)");
    if (!has_whole_words(file))
        return unknown(file, "its pointers are compressed");
    Constants constants(file);
    V8Layout layout{};
    layout.walk = walk_layout(constants, *version);
    layout.objects = object_layout(constants, *version, layout.walk);
    if (constants.failed() || layout.walk.shared_bytes > WIRE_V8_SHARED_BYTES)
        return unknown(file, "where its file says that its objects are, they cannot be");
    return layout;
}

} // namespace auger
