// SPDX-License-Identifier: GPL-3.0-or-later
// The objects of a process that runs V8, as far as auger reads them: a function, its script, what
// executes it. Addresses, types and offsets are made up, so nothing can be right because it is
// right in a real one.
#pragma once

#include "loader/runtimes/function_problem.h"
#include "loader/runtimes/v8/layout.h"
#include "tests/unit/fake_pages.h"

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace auger::test {

inline const char* text_of(FunctionProblem problem) {
    return problem == FunctionProblem::gone   ? "(gone)"
           : problem == FunctionProblem::late ? "(late)"
                                              : "(unreadable)";
}

// Of a version with a row of its own: V8 of Node 22, with other offsets.
inline V8File made_up_v8_file() {
    using C = V8Constant;
    V8File file;
    file.version = {12, 4, 254, 21};
    const auto set = [&](C constant, int32_t value) {
        file.constants[static_cast<size_t>(constant)] = value;
    };
    set(C::tagged_size, 8);
    set(C::smi_shift, 31);
    set(C::heap_tag, 1);
    set(C::heap_tag_mask, 3);
    set(C::frame_context, -16);
    set(C::frame_function, -24);
    set(C::frame_bytecode, -40);
    set(C::frame_offset, -56);
    set(C::offset_register, 8);
    set(C::map_type, 18);
    set(C::function_shared, 40);
    set(C::shared_name, 24);
    set(C::shared_script, 40);
    set(C::shared_flags, 56);
    set(C::shared_type, 301);
    set(C::bytecode_type, 302);
    set(C::bytecode_data, 70);
    set(C::array_length, 16);
    set(C::interpreter_data_type, 303);
    set(C::code_type, 304);
    set(C::scope_type, 305);
    set(C::script_type, 306);
    set(C::script_source, 32);
    set(C::script_name, 48);
    set(C::script_line_ends, 64);
    set(C::string_length, 20);
    set(C::one_byte_characters, 24);
    set(C::two_byte_characters, 32);
    set(C::cons_first, 24);
    set(C::cons_second, 40);
    set(C::sliced_parent, 40);
    set(C::sliced_offset, 24);
    set(C::thin_actual, 32);
    set(C::external_resource, 40);
    set(C::not_string_mask, -256);
    set(C::representation_mask, 0x70);
    set(C::encoding_mask, 2);
    set(C::one_byte_tag, 2);
    set(C::cons_tag, 0x10);
    set(C::external_tag, 0x20);
    set(C::sliced_tag, 0x30);
    set(C::thin_tag, 0x50);
    return file;
}

struct V8Image : FakePages {
    static constexpr uint64_t tag = 1;
    // Where objects are; pointers to them are one more.
    static constexpr uint64_t shared = 0x20000 + tag, scope = 0x21000 + tag, script = 0x22000 + tag;
    static constexpr uint64_t bytecode = 0x23000 + tag, positions = 0x24000 + tag;
    static constexpr uint64_t name = 0x25000 + tag, inferred = 0x26000 + tag;
    static constexpr uint64_t source = 0x27000 + tag, file = 0x28000 + tag;
    static constexpr uint64_t interpreter_data = 0x29000 + tag, code = 0x2a000 + tag;
    static constexpr uint64_t none = 0x2b000 + tag; // an oddball
    static constexpr uint64_t more = 0x30000 + tag; // for tests
    static constexpr uint32_t literal = 7, unique = 1234;
    static constexpr uint16_t one_byte = 2, two_byte = 0, oddball = 0x183;
    static constexpr uint32_t function_kind = 2, module_kind = 3;
    static constexpr uint32_t class_variable = 1 << 10, stack_name = 1 << 12,
                              context_name = 2 << 12;
    static constexpr uint32_t inferred_name = 1 << 14;
    // Positions: 'pay' is from 10 to 30; bytecode 3 is at 12, 8 at 22.
    static constexpr std::string_view text = "var a = 1;pay() {\n  one();\n two()\n}\n";

    V8Layout layout = *v8_layout(made_up_v8_file());

    V8Image() {
        put_object(shared, 301);
        set(shared, 8, bytecode);
        set(shared, 24, scope);
        set(shared, 40, script);
        put(shared - tag + 60, literal);
        put(shared - tag + 64, unique);
        put_object(scope, 305);
        set(scope, 8, integer(function_kind | stack_name | inferred_name));
        set(scope, 24, integer(1));
        // A variable and what is known of it, the name and where it is, the inferred one, the
        // place.
        put_words(scope - tag + 32,
                  {none, integer(0), name, integer(-1), inferred, integer(10), integer(30)});
        put_object(script, 306);
        set(script, 32, source);
        set(script, 48, file);
        set(script, 72, integer(81));
        put_object(bytecode, 302);
        set(bytecode, 16, integer(20));
        set(bytecode, 24, positions);
        put_object(positions, 307);
        // The first one is where it is entered.
        put_positions({{-1, raw(10)}, {3, raw(12)}, {8, raw(22)}});
        put_object(none, oddball);
        put_string(name, "pay");
        put_string(inferred, "Till.pay");
        put_string(file, "/srv/till.js");
        put_string(source, text);
    }

    static constexpr uint64_t integer(int32_t value) {
        return static_cast<uint64_t>(static_cast<uint32_t>(value)) << 32;
    }
    void set(uint64_t object, uint32_t offset, uint64_t word) { put(object - tag + offset, word); }
    void put_words(uint64_t address, std::initializer_list<uint64_t> words) {
        for (const uint64_t word : words) {
            put(address, word);
            address += sizeof word;
        }
    }
    // With a Map of its own.
    void put_object(uint64_t object, uint16_t type) {
        const uint64_t map = object + 0x800;
        set(object, 0, map);
        put(map - tag + 18, type);
    }
    void put_string(uint64_t object, std::string_view characters) {
        put_object(object, one_byte);
        put(object - tag + 20, static_cast<uint32_t>(characters.size()));
        put_bytes(object - tag + 24, characters.data(), characters.size());
    }
    void put_string(uint64_t object, std::u16string_view characters) {
        put_object(object, two_byte);
        put(object - tag + 20, static_cast<uint32_t>(characters.size()));
        put_bytes(object - tag + 32, characters.data(), 2 * characters.size());
    }
    // A position as tables have it, of the function itself or of one that is inlined.
    static constexpr int64_t raw(int64_t position, int64_t inlined = -1) {
        return (inlined + 1) << 31 | (position + 1) << 1;
    }
    // Of (offset, raw position), each offset where a statement begins.
    static std::vector<uint8_t>
    position_table(const std::vector<std::pair<int64_t, int64_t>>& places) {
        std::vector<uint8_t> bytes;
        const auto add = [&](int64_t number) {
            uint64_t value =
                static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63);
            for (; value > 127; value >>= 7)
                bytes.push_back(static_cast<uint8_t>(value | 128));
            bytes.push_back(static_cast<uint8_t>(value));
        };
        int64_t at = -1, before = 0;
        for (const auto& [offset, position] : places) {
            add(offset - at);
            add(position - before);
            at = offset;
            before = position;
        }
        return bytes;
    }
    void put_positions(const std::vector<std::pair<int64_t, int64_t>>& places) {
        const auto table = position_table(places);
        set(positions, 16, integer(static_cast<int32_t>(table.size())));
        put_bytes(positions - tag + 24, table.data(), table.size());
    }

    uint32_t cookie() const { return wire_v8_cookie(scope, script, literal, unique); }
    // Of a bytecode as frames have it.
    static uint64_t second(uint32_t bytecode_at, uint32_t cookie) {
        return uint64_t{bytecode_at + 70 - tag} << 32 | cookie;
    }
};

} // namespace auger::test
