// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/hotspot/vm_structs.h"

#include "loader/runtimes/bounded_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace auger {
namespace {

struct Field {
    std::string_view type, field, of;
    bool is_static = false;
};

// As JDK 17 has them (src/hotspot/share/runtime/vmStructs.cpp there). Another type is another
// meaning.
constexpr std::array<Field, static_cast<size_t>(HotspotField::count_)> fields = {{
    {"Abstract_VM_Version", "_vm_major_version", "int", true},
    {"CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", true},
    {"GrowableArrayBase", "_len", "int"},
    {"GrowableArray<int>", "_data", "int*"},
    {"CodeHeap", "_memory", "VirtualSpace"},
    {"CodeHeap", "_segmap", "VirtualSpace"},
    {"CodeHeap", "_log2_segment_size", "int"},
    {"VirtualSpace", "_low_boundary", "char*"},
    {"VirtualSpace", "_high_boundary", "char*"},
    {"HeapBlock::Header", "_used", "bool"},
    {"CodeBlob", "_name", "const char*"},
    {"CodeBlob", "_size", "int"},
    {"CodeBlob", "_header_size", "int"},
    {"CodeBlob", "_frame_complete_offset", "int"},
    {"CodeBlob", "_frame_size", "int"},
    {"CodeBlob", "_code_begin", "address"},
    {"AbstractInterpreter", "_code", "StubQueue*", true},
    {"StubQueue", "_stub_buffer", "address"},
    {"StubQueue", "_buffer_limit", "int"},
    {"StubQueue", "_queue_end", "int"},
    {"CompiledMethod", "_method", "Method*"},
    {"CompiledMethod", "_scopes_data_begin", "address"},
    {"CompiledMethod", "_deopt_handler_begin", "address"},
    {"CompiledMethod", "_deopt_mh_handler_begin", "address"},
    {"nmethod", "_compile_id", "int"},
    {"nmethod", "_orig_pc_offset", "int"},
    {"nmethod", "_metadata_offset", "int"},
    {"nmethod", "_scopes_pcs_offset", "int"},
    {"nmethod", "_dependencies_offset", "int"},
    {"PcDesc", "_pc_offset", "int"},
    {"PcDesc", "_scope_decode_offset", "int"},
    {"Method", "_constMethod", "ConstMethod*"},
    {"ConstMethod", "_constants", "ConstantPool*"},
    {"ConstMethod", "_constMethod_size", "int"},
    {"ConstMethod", "_flags", "u2"},
    {"ConstMethod", "_code_size", "u2"},
    {"ConstMethod", "_name_index", "u2"},
    {"ConstantPool", "_pool_holder", "InstanceKlass*"},
    {"ConstantPool", "_length", "int"},
    {"ConstantPool", "_source_file_name_index", "u2"},
    {"Klass", "_name", "Symbol*"},
    {"InstanceKlass", "_constants", "ConstantPool*"},
    {"Symbol", "_length", "u2"},
    {"Symbol", "_body[0]", "u1"},
}};

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

// JDK 17 has 788 and 621.
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

} // namespace

VmStructs read_vm_structs(const ReadMemory& read, uint64_t structs_at, uint64_t types_at) {
    BoundedMemory memory(read);
    VmStructs answer;
    HotspotValues& values = answer.values;
    values.fields.fill(HotspotValues::absent);
    std::array<bool, fields.size()> has_field{};
    std::array<bool, types.size()> has_type{};
    std::map<std::pair<std::string_view, std::string_view>, size_t> wanted;
    for (size_t i = 0; i < fields.size(); i++)
        wanted.emplace(std::pair{fields[i].type, fields[i].field}, i);

    const bool has_structs =
        for_each_entry<StructEntry>(memory, structs_at, [&](const StructEntry& entry) {
            const std::string type = memory.text(entry.type, type_name_limit);
            const std::string field = memory.text(entry.field, type_name_limit);
            const auto found = wanted.find({type, field});
            if (found == wanted.end())
                return;
            const size_t i = found->second;
            const bool is_static = entry.is_static != 0;
            if (is_static != fields[i].is_static || (!is_static && entry.offset > most_bytes) ||
                memory.text(entry.of, type_name_limit) != fields[i].of)
                return;
            values.fields[i] = is_static ? entry.address : entry.offset;
            has_field[i] = true;
        });
    const bool has_types =
        has_structs && for_each_entry<TypeEntry>(memory, types_at, [&](const TypeEntry& entry) {
            const std::string type = memory.text(entry.type, type_name_limit);
            for (size_t i = 0; i < types.size(); i++) {
                if (types[i] != type || entry.size == 0 || entry.size > most_bytes)
                    continue;
                values.sizes[i] = entry.size;
                has_type[i] = true;
            }
        });
    const auto all = [](const auto& has) { return std::ranges::find(has, false) == has.end(); };
    if (memory.late())
        answer.problem = VmStructsProblem::late;
    else if (!has_types)
        answer.problem = VmStructsProblem::unreadable;
    else if (!all(has_field) || !all(has_type))
        answer.problem = VmStructsProblem::unknown;
    return answer;
}

} // namespace auger
