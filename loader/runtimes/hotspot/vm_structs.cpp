// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/hotspot/vm_structs.h"

#include "loader/runtimes/bounded_memory.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace auger {
namespace {

using F = HotspotField;

// A field by one of its names, and the versions that have it so. Another type is another meaning.
struct StructField {
    HotspotField field;
    std::string_view type, name, of;
    uint8_t bytes; // of what is there; 0: structures, and static fields
    bool is_static = false;
    int32_t first = first_hotspot, last = last_hotspot;
};

// As JDK 17, 21 and 25 to 27 have them; of those between by their sources
// (src/hotspot/share/runtime/vmStructs.cpp).
constexpr auto struct_fields = std::to_array<StructField>({
    {F::major_version, "Abstract_VM_Version", "_vm_major_version", "int", 0, true},
    {F::code_heaps, "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 0, true},
    {F::array_length, "GrowableArrayBase", "_len", "int", 4},
    {F::array_data, "GrowableArray<int>", "_data", "int*", 8},
    {F::heap_memory, "CodeHeap", "_memory", "VirtualSpace", 0},
    {F::heap_segments, "CodeHeap", "_segmap", "VirtualSpace", 0},
    {F::heap_segment_bits, "CodeHeap", "_log2_segment_size", "int", 4},
    {F::space_low, "VirtualSpace", "_low_boundary", "char*", 8},
    {F::space_high, "VirtualSpace", "_high_boundary", "char*", 8},
    {F::block_used, "HeapBlock::Header", "_used", "bool", 1},
    {F::blob_name, "CodeBlob", "_name", "const char*", 8},
    {F::blob_size, "CodeBlob", "_size", "int", 4},
    {F::blob_header_size, "CodeBlob", "_header_size", "int", 4, false, 17, 22},
    {F::blob_header_size, "CodeBlob", "_header_size", "u2", 2, false, 23},
    {F::blob_frame_complete, "CodeBlob", "_frame_complete_offset", "int", 4, false, 17, 22},
    {F::blob_frame_complete, "CodeBlob", "_frame_complete_offset", "int16_t", 2, false, 23},
    {F::blob_frame_size, "CodeBlob", "_frame_size", "int", 4},
    {F::blob_code, "CodeBlob", "_code_begin", "address", 8, false, 17, 22},
    {F::blob_code, "CodeBlob", "_code_offset", "int", 4, false, 23},
    {F::blob_data, "CodeBlob", "_data_offset", "int", 4, false, 23, 24},
    {F::blob_mutable, "CodeBlob", "_mutable_data", "address", 8, false, 25},
    {F::blob_relocations, "CodeBlob", "_relocation_size", "int", 4, false, 25},
    {F::interpreter_queue, "AbstractInterpreter", "_code", "StubQueue*", 0, true},
    {F::queue_buffer, "StubQueue", "_stub_buffer", "address", 8},
    {F::queue_limit, "StubQueue", "_buffer_limit", "int", 4},
    {F::queue_end, "StubQueue", "_queue_end", "int", 4},
    {F::nmethod_method, "CompiledMethod", "_method", "Method*", 8, false, 17, 22},
    {F::nmethod_method, "nmethod", "_method", "Method*", 8, false, 23},
    {F::nmethod_scopes, "CompiledMethod", "_scopes_data_begin", "address", 8, false, 17, 22},
    {F::nmethod_deopt_handler, "CompiledMethod", "_deopt_handler_begin", "address", 8, false, 17,
     22},
    {F::nmethod_deopt_handler, "nmethod", "_deopt_handler_offset", "int", 4, false, 23, 25},
    {F::nmethod_deopt_handler, "nmethod", "_deopt_handler_entry_offset", "int", 4, false, 26},
    {F::nmethod_deopt_mh_handler, "CompiledMethod", "_deopt_mh_handler_begin", "address", 8, false,
     17, 22},
    {F::nmethod_deopt_mh_handler, "nmethod", "_deopt_mh_handler_offset", "int", 4, false, 23, 25},
    {F::nmethod_compile_id, "nmethod", "_compile_id", "int", 4},
    {F::nmethod_original_pc, "nmethod", "_orig_pc_offset", "int", 4},
    {F::nmethod_metadata, "nmethod", "_metadata_offset", "int", 4, false, 17, 22},
    {F::nmethod_metadata, "nmethod", "_metadata_offset", "u2", 2, false, 23, 24},
    {F::nmethod_immutable, "nmethod", "_immutable_data", "address", 8, false, 23},
    {F::nmethod_immutable_size, "nmethod", "_immutable_data_size", "int", 4, false, 23},
    {F::nmethod_pcs, "nmethod", "_scopes_pcs_offset", "int", 4},
    {F::nmethod_pcs_end, "nmethod", "_dependencies_offset", "int", 4, false, 17, 22},
    {F::nmethod_pcs_end, "nmethod", "_scopes_data_offset", "int", 4, false, 23},
    {F::pc_offset, "PcDesc", "_pc_offset", "int", 4},
    {F::pc_scope, "PcDesc", "_scope_decode_offset", "int", 4},
    {F::method_const, "Method", "_constMethod", "ConstMethod*", 8},
    {F::const_constants, "ConstMethod", "_constants", "ConstantPool*", 8},
    {F::const_size, "ConstMethod", "_constMethod_size", "int", 4},
    {F::const_flags, "ConstMethod", "_flags", "u2", 2, false, 17, 20},
    {F::const_flags, "ConstMethod", "_flags._flags", "u4", 4, false, 21},
    {F::const_code_size, "ConstMethod", "_code_size", "u2", 2},
    {F::const_name, "ConstMethod", "_name_index", "u2", 2},
    {F::pool_holder, "ConstantPool", "_pool_holder", "InstanceKlass*", 8},
    {F::pool_length, "ConstantPool", "_length", "int", 4},
    {F::pool_source_file, "ConstantPool", "_source_file_name_index", "u2", 2},
    {F::class_name, "Klass", "_name", "Symbol*", 8},
    {F::class_constants, "InstanceKlass", "_constants", "ConstantPool*", 8},
    {F::symbol_length, "Symbol", "_length", "u2", 2},
    {F::symbol_body, "Symbol", "_body[0]", "u1", 1},
    {F::thread_owner, "JavaThread", "_monitor_owner_id", "int64_t", 8, false, 25},
    {F::thread_continuation, "JavaThread", "_cont_entry", "ContinuationEntry*", 8, false, 25},
});

constexpr std::array<std::string_view, static_cast<size_t>(HotspotType::count_)> types = {
    "HeapBlock", "nmethod", "PcDesc", "ConstMethod", "ConstantPool"};

// VMStructEntry and VMTypeEntry: the same in all versions known.
struct StructEntry {
    uint64_t type, field, of;
    int32_t is_static, padding;
    uint64_t offset, address;
};
struct TypeEntry {
    uint64_t type, super;
    int32_t flags[4];
    uint64_t size;
};

// JDK 17 has 788 and 768.
constexpr size_t most_entries = 8192;
constexpr uint64_t most_bytes = 1 << 20; // an offset, or a size
constexpr size_t type_name_limit = 64;

// What an entry says that has no more behind it.
template <typename Entry>
bool is_last(const Entry& entry) {
    return entry.type == 0;
}

// The entries of a table, of which each is handed to `take`. False: they cannot be read, or do not
// end.
template <typename Entry, typename Take>
bool for_each_entry(BoundedMemory& memory, uint64_t variable, const Take& take) {
    uint64_t table = 0;
    if (!memory.get(variable, table) || table == 0)
        return false;
    for (size_t i = 0; i < most_entries; i++, table += sizeof(Entry)) {
        Entry entry;
        if (!memory.get(table, entry))
            return false;
        if (is_last(entry))
            return true;
        take(entry);
        if (memory.failed())
            return false;
    }
    return false;
}

// Where each of the fields is; nothing: it is not there, or of another type.
using FoundFields = std::array<std::optional<uint64_t>, struct_fields.size()>;

bool read_structs(BoundedMemory& memory, uint64_t structs_at, FoundFields& found) {
    // Some names are of several types.
    std::multimap<std::pair<std::string_view, std::string_view>, size_t> wanted;
    for (size_t i = 0; i < struct_fields.size(); i++)
        wanted.emplace(std::pair{struct_fields[i].type, struct_fields[i].name}, i);
    return for_each_entry<StructEntry>(memory, structs_at, [&](const StructEntry& entry) {
        const std::string type = memory.text(entry.type, type_name_limit);
        const std::string name = memory.text(entry.field, type_name_limit);
        const auto [first, last] = wanted.equal_range({type, name});
        if (first == last)
            return;
        const std::string of = memory.text(entry.of, type_name_limit);
        const bool is_static = entry.is_static != 0;
        for (auto one = first; one != last; ++one)
            if (const StructField& known = struct_fields[one->second];
                is_static == known.is_static && (is_static || entry.offset <= most_bytes) &&
                of == known.of)
                found[one->second] = is_static ? entry.address : entry.offset;
    });
}

// False: they cannot be read, or do not end.
bool read_types(BoundedMemory& memory, uint64_t types_at, HotspotValues& values) {
    return for_each_entry<TypeEntry>(memory, types_at, [&](const TypeEntry& entry) {
        const std::string type = memory.text(entry.type, type_name_limit);
        for (size_t i = 0; i < types.size(); i++)
            if (types[i] == type && entry.size != 0 && entry.size <= most_bytes)
                values.sizes[i] = entry.size;
    });
}

// What its version has, of what was found. False: not all of it was.
bool take_fields(const FoundFields& found, HotspotValues& values) {
    bool all = values.is_known_version();
    for (size_t i = 0; i < struct_fields.size(); i++) {
        const StructField& name = struct_fields[i];
        if (values.version < name.first || values.version > name.last)
            continue;
        all = all && found[i];
        const auto field = static_cast<size_t>(name.field);
        values.fields[field] = found[i].value_or(HotspotValues::absent);
        values.bytes[field] = name.bytes;
    }
    return all && std::ranges::find(values.sizes, uint64_t{0}) == values.sizes.end();
}

} // namespace

VmStructs read_vm_structs(const ReadMemory& read, uint64_t structs_at, uint64_t types_at) {
    BoundedMemory memory(read);
    VmStructs answer;
    HotspotValues& values = answer.values;
    values.fields.fill(HotspotValues::absent);
    FoundFields found;
    const bool whole =
        read_structs(memory, structs_at, found) && read_types(memory, types_at, values);
    static_assert(struct_fields[0].field == F::major_version);
    int32_t version = 0;
    if (whole && found[0] && memory.get(*found[0], version) && version > 0)
        values.version = version;
    if (memory.late())
        answer.problem = VmStructsProblem::late;
    else if (!whole)
        answer.problem = VmStructsProblem::unreadable;
    else if (!take_fields(found, values))
        answer.problem = VmStructsProblem::unknown;
    return answer;
}

} // namespace auger
