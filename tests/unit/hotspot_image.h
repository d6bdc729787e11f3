// SPDX-License-Identifier: GPL-3.0-or-later
// The memory of a process that runs HotSpot, as far as auger reads it: its tables of types, one
// heap of code with a compiled method, and what that is made of. Addresses and offsets are made up,
// so nothing can be right because it is right in a real one.
#pragma once

#include "loader/runtimes/hotspot/layout.h"
#include "tests/unit/fake_pages.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace auger::test {

struct HotspotImage : FakePages {
    struct Field {
        std::string type, name, of;
        bool is_static;
        uint64_t value; // an offset, or an address
    };
    struct Type {
        std::string name;
        uint64_t size;
    };
    // Where things are.
    static constexpr uint64_t structs = 0x10000, types = 0x10008; // variables
    static constexpr uint64_t struct_table = 0x11000, type_table = 0x16000, texts = 0x18000;
    static constexpr uint64_t version_at = 0x20000, heaps = 0x20010, queue_at = 0x20018;
    static constexpr uint64_t array = 0x20100, elements = 0x20200, heap = 0x20300, queue = 0x20500;
    static constexpr uint64_t interpreter = 0x7f0000100000, interpreter_size = 0x8000;
    static constexpr uint64_t interpreter_room = interpreter_size + 0x40;
    static constexpr uint64_t code_low = 0x7f0000200000, code_high = 0x7f0000300000;
    static constexpr uint64_t segments = 0x7f0000400000;
    static constexpr uint64_t block = code_low + 0x1000, blob = block + 16;
    static constexpr uint64_t code = blob + 400;
    static constexpr uint32_t blob_size = 0x2000, compile_id = 77;
    static constexpr uint32_t metadata = 0x800, scopes = 0x900, pcs = 0xa00, pcs_end = pcs + 3 * 16;
    // From JDK 23 on: the places and, behind them, the scopes; then from JDK 25 on the methods,
    // too.
    static constexpr uint64_t immutable = 0x70000, mutable_data = 0x71000;
    static constexpr uint32_t immutable_pcs = 0x80, immutable_pcs_end = immutable_pcs + 3 * 16;
    static constexpr uint32_t immutable_size = 0x200, relocations = 0x18;
    static constexpr uint32_t data = 0x700, metadata_in_data = 0x60;
    static constexpr uint64_t kind = 0x30000; // "nmethod"
    static constexpr uint64_t pool = 0x40000, pool_entries = pool + 72;
    static constexpr uint64_t other_pool = 0x41000, klass = 0x42000;
    static constexpr uint64_t outer = 0x50000, inner = 0x50100; // Methods
    static constexpr uint64_t outer_const = 0x51000, inner_const = 0x52000;
    static constexpr uint64_t thread_owner = 1016; // in a JavaThread
    static constexpr uint64_t symbols = 0x60000; // one each 2 KB

    std::vector<Field> fields = {
        {"Abstract_VM_Version", "_vm_major_version", "int", true, version_at},
        {"CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", true, heaps},
        {"GrowableArrayBase", "_len", "int", false, 4},
        {"GrowableArray<int>", "_data", "int*", false, 16},
        {"CodeHeap", "_memory", "VirtualSpace", false, 24},
        {"CodeHeap", "_segmap", "VirtualSpace", false, 96},
        {"CodeHeap", "_log2_segment_size", "int", false, 200},
        {"VirtualSpace", "_low_boundary", "char*", false, 0},
        {"VirtualSpace", "_high_boundary", "char*", false, 8},
        {"HeapBlock::Header", "_used", "bool", false, 9},
        {"CodeBlob", "_name", "const char*", false, 80},
        {"CodeBlob", "_size", "int", false, 8},
        {"CodeBlob", "_header_size", "int", false, 12},
        {"CodeBlob", "_frame_complete_offset", "int", false, 16},
        {"CodeBlob", "_frame_size", "int", false, 20},
        {"CodeBlob", "_code_begin", "address", false, 24},
        {"AbstractInterpreter", "_code", "StubQueue*", true, queue_at},
        {"StubQueue", "_stub_buffer", "address", false, 8},
        {"StubQueue", "_buffer_limit", "int", false, 20},
        {"StubQueue", "_queue_end", "int", false, 28},
        {"CompiledMethod", "_method", "Method*", false, 104},
        {"CompiledMethod", "_scopes_data_begin", "address", false, 112},
        {"CompiledMethod", "_deopt_handler_begin", "address", false, 120},
        {"CompiledMethod", "_deopt_mh_handler_begin", "address", false, 128},
        {"nmethod", "_compile_id", "int", false, 300},
        {"nmethod", "_orig_pc_offset", "int", false, 296},
        {"nmethod", "_metadata_offset", "int", false, 260},
        {"nmethod", "_scopes_pcs_offset", "int", false, 268},
        {"nmethod", "_dependencies_offset", "int", false, 272},
        {"PcDesc", "_pc_offset", "int", false, 4},
        {"PcDesc", "_scope_decode_offset", "int", false, 8},
        {"Method", "_constMethod", "ConstMethod*", false, 16},
        {"ConstMethod", "_constants", "ConstantPool*", false, 8},
        {"ConstMethod", "_constMethod_size", "int", false, 24},
        {"ConstMethod", "_flags", "u2", false, 30},
        {"ConstMethod", "_code_size", "u2", false, 32},
        {"ConstMethod", "_name_index", "u2", false, 34},
        {"ConstantPool", "_pool_holder", "InstanceKlass*", false, 32},
        {"ConstantPool", "_length", "int", false, 60},
        {"ConstantPool", "_source_file_name_index", "u2", false, 54},
        {"Klass", "_name", "Symbol*", false, 40},
        {"InstanceKlass", "_constants", "ConstantPool*", false, 232},
        {"Symbol", "_length", "u2", false, 4},
        {"Symbol", "_body[0]", "u1", false, 6},
        {"Symbol", "_refcount", "", false, 0}, // what nobody asks for
    };
    std::vector<Type> sizes = {{"HeapBlock", 16},   {"nmethod", 352},     {"PcDesc", 16},
                               {"ConstMethod", 48}, {"ConstantPool", 72}, {"Other", 4}};

    const int32_t version;

    explicit HotspotImage(int32_t of_version = 17) : version(of_version) {
        take_fields_of_version();
        put_tables();
        put(version_at, version);
        put(heaps, array);
        put(array + 4, int32_t{1});
        put(array + 16, elements);
        put(elements, heap);
        put(heap + 24, code_low);
        put(heap + 32, code_high);
        put(heap + 96, segments);
        put(heap + 200, int32_t{7});
        put(queue_at, queue);
        put(queue + 8, interpreter);
        put(queue + 20, static_cast<int32_t>(interpreter_room));
        put(queue + 28, static_cast<int32_t>(interpreter_size));
        put_code();
        put_methods();
    }

    // What the versions after 17 have otherwise, by their sources.
    void take_fields_of_version() {
        if (version >= 21)
            replace("ConstMethod", "_flags", {{"ConstMethod", "_flags._flags", "u4", false, 28}});
        if (version >= 23) {
            replace("CodeBlob", "_header_size", {{"CodeBlob", "_header_size", "u2", false, 14}});
            replace("CodeBlob", "_frame_complete_offset",
                    {{"CodeBlob", "_frame_complete_offset", "int16_t", false, 18}});
            replace("CodeBlob", "_code_begin",
                    {{"CodeBlob", "_code_offset", "int", false, 24},
                     {"CodeBlob", "_data_offset", "int", false, 28}});
            replace("CompiledMethod", "_method", {{"nmethod", "_method", "Method*", false, 104}});
            replace("CompiledMethod", "_scopes_data_begin",
                    {{"nmethod", "_immutable_data", "address", false, 112},
                     {"nmethod", "_immutable_data_size", "int", false, 288}});
            replace("CompiledMethod", "_deopt_handler_begin",
                    {{"nmethod", "_deopt_handler_offset", "int", false, 120}});
            replace("CompiledMethod", "_deopt_mh_handler_begin",
                    {{"nmethod", "_deopt_mh_handler_offset", "int", false, 124}});
            replace("nmethod", "_metadata_offset",
                    {{"nmethod", "_metadata_offset", "u2", false, 262}});
            replace("nmethod", "_dependencies_offset",
                    {{"nmethod", "_scopes_data_offset", "int", false, 272}});
        }
        if (version >= 25) {
            replace("nmethod", "_metadata_offset",
                    {{"CodeBlob", "_mutable_data", "address", false, 32}});
            replace("CodeBlob", "_data_offset",
                    {{"CodeBlob", "_relocation_size", "int", false, 40},
                     {"JavaThread", "_monitor_owner_id", "int64_t", false, thread_owner},
                     {"JavaThread", "_cont_entry", "ContinuationEntry*", false, 1024}});
        }
        if (version >= 26) {
            replace("nmethod", "_deopt_handler_offset",
                    {{"nmethod", "_deopt_handler_entry_offset", "int", false, 120}});
            replace("nmethod", "_deopt_mh_handler_offset", {});
        }
    }
    void replace(std::string_view type, std::string_view name, const std::vector<Field>& by) {
        for (auto field = fields.begin(); field != fields.end(); ++field)
            if (field->type == type && field->name == name) {
                fields.insert(fields.erase(field), by.begin(), by.end());
                return;
            }
    }

    // Where the tables of the compiled code are.
    uint64_t places_begin() const { return version < 23 ? blob + pcs : immutable + immutable_pcs; }
    uint64_t scopes_begin() const {
        return version < 23 ? blob + scopes : immutable + immutable_pcs_end;
    }
    uint64_t methods_begin() const {
        return version < 23   ? blob + metadata
               : version < 25 ? blob + data + metadata_in_data
                              : mutable_data + relocations;
    }
    // Compressed numbers are given as JDK 17 has them.
    void put_numbers(uint64_t at, const std::vector<uint8_t>& numbers) {
        for (const uint8_t number : numbers)
            put(at++, static_cast<uint8_t>(number + (version >= 20 ? 1 : 0)));
    }

    void put_tables() {
        uint64_t text = texts;
        const auto put_name = [&](const std::string& name) {
            if (name.empty())
                return uint64_t{0};
            put_text(text, name);
            return std::exchange(text, text + name.size() + 1);
        };
        put(structs, struct_table);
        uint64_t at = struct_table;
        for (const Field& field : fields) {
            put(at, put_name(field.type));
            put(at + 8, put_name(field.name));
            put(at + 16, put_name(field.of));
            put(at + 24, uint64_t{field.is_static});
            put(at + 32, field.is_static ? 0 : field.value);
            put(at + 40, field.is_static ? field.value : 0);
            at += 48;
        }
        put(at, uint64_t{0});
        put(at + 40, uint64_t{0});
        put(types, type_table);
        at = type_table;
        for (const Type& type : sizes) {
            put(at, put_name(type.name));
            put(at + 8, uint64_t{0});
            put(at + 32, type.size);
            at += 40;
        }
        put(at, uint64_t{0});
        put(at + 32, uint64_t{0});
    }

    // Compiled code of `outer`, which has `inner` in it up to 0x20, then itself, then nothing
    // known.
    void put_code() {
        put(block + 9, uint8_t{1});
        put(blob + 8, blob_size);
        if (version < 23) {
            put(blob + 12, uint32_t{352});
            put(blob + 24, code);
            put(blob + 112, blob + scopes);
            put(blob + 260, metadata);
            put(blob + 268, pcs);
            put(blob + 272, pcs_end);
        } else {
            put(blob + 14, uint16_t{352});
            put(blob + 24, static_cast<uint32_t>(code - blob));
            put(blob + 112, immutable);
            put(blob + 288, immutable_size);
            put(blob + 268, immutable_pcs);
            put(blob + 272, immutable_pcs_end);
        }
        if (version >= 23 && version < 25) {
            put(blob + 28, data);
            put(blob + 262, static_cast<uint16_t>(metadata_in_data));
        }
        if (version >= 25) {
            put(blob + 32, mutable_data);
            put(blob + 40, relocations);
        }
        put(blob + 80, kind);
        put(blob + 104, outer);
        put(blob + 300, compile_id);
        put(blob + blob_size - 1, uint8_t{0});
        put_text(kind, "nmethod");
        put(methods_begin(), outer);
        put(methods_begin() + 8, inner);
        // At 1: outer, bytecode 7. At 8: inner, bytecode 2, in the one at 1.
        put_numbers(scopes_begin() + 1, {0, 1, 8});
        put_numbers(scopes_begin() + 8, {1, 2, 3});
        put_place(0, 0x20, 8);
        put_place(1, 0x40, 1);
        put_place(2, 0x1000, 0);
    }
    void put_place(uint32_t index, int32_t place, int32_t scope) {
        put(places_begin() + index * 16 + 4, place);
        put(places_begin() + index * 16 + 8, scope);
    }

    void put_methods() {
        put(outer + 16, outer_const);
        put(inner + 16, inner_const);
        // Lines: from bytecode 0 on 10, from 5 on 12; and 100, at 2 99, from 3 on 104.
        const uint8_t more = version >= 20 ? 1 : 0; // in each byte of a compressed number
        const auto number = [more](uint8_t byte) { return static_cast<uint8_t>(byte + more); };
        put_const(outer_const, 1, {0xff, number(0), number(20), 0x2a, 0});
        put_const(inner_const, 2,
                  {0xff, number(0), number(0xc8), number(0), 0xff, number(4), number(1), 0x0d, 0});
        put(pool + 32, klass);
        put(pool + 60, int32_t{4});
        put(klass + 40, symbol(0, "org/shop/Till"));
        put(klass + 232, other_pool);
        put(other_pool + 54, uint16_t{3});
        put(other_pool + 60, int32_t{4});
        put(pool_entries + 8, symbol(1, "pay"));
        put(pool_entries + 16, symbol(2, "lambda$pay$0"));
        put(other_pool + 72 + 24, symbol(3, "Till.java"));
    }
    void put_const(uint64_t at, uint16_t name, const std::vector<uint8_t>& lines) {
        put(at + 8, pool);
        put(at + 24, int32_t{12}); // words
        put(at + (version < 21 ? 30 : 28), uint16_t{1});
        put(at + 32, uint16_t{20});
        put(at + 34, name);
        put_bytes(at + 48 + 20, lines.data(), lines.size());
    }
    uint64_t symbol(uint64_t number, std::string_view text) {
        const uint64_t at = symbols + number * 2048;
        put(at + 4, static_cast<uint16_t>(text.size()));
        put_bytes(at + 6, text.data(), text.size());
        return at;
    }

    Result<HotspotLayout> layout() { return hotspot_layout(reader(), structs, types); }
};

} // namespace auger::test
