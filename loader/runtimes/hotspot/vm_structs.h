// SPDX-License-Identifier: GPL-3.0-or-later
// HotSpot's tables of its own types (gHotSpotVMStructs), which it has for debuggers, read out of a
// process that runs it: where its structures have what is read of them.
#pragma once

#include "loader/runtimes/read_memory.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace auger {

// Versions of HotSpot whose structures are known.
constexpr int32_t first_hotspot = 17, last_hotspot = 27;

// What is looked up there: not all versions have all of it.
enum class HotspotField : uint8_t {
    major_version, // static, as others where it is said
    code_heaps,    // static: address of a GrowableArray of CodeHeaps
    array_length,
    array_data,
    heap_memory,
    heap_segments,
    heap_segment_bits,
    space_low,
    space_high,
    block_used,
    blob_name,
    blob_size,
    blob_header_size,
    blob_frame_complete,
    blob_frame_size,
    blob_code,
    blob_data,         // JDK 23 and 24
    blob_mutable,      // from JDK 25 on
    blob_relocations,  // likewise
    interpreter_queue, // static: address of a StubQueue
    queue_buffer,
    queue_limit,
    queue_end,
    nmethod_method,
    nmethod_scopes, // up to JDK 22; then where the places end
    nmethod_deopt_handler,
    nmethod_deopt_mh_handler, // up to JDK 25
    nmethod_compile_id,
    nmethod_original_pc,
    nmethod_metadata,       // up to JDK 24
    nmethod_immutable,      // from JDK 23 on
    nmethod_immutable_size, // likewise
    nmethod_pcs,
    nmethod_pcs_end,
    pc_offset,
    pc_scope,
    method_const,
    const_constants,
    const_size,
    const_flags,
    const_code_size,
    const_name,
    pool_holder,
    pool_length,
    pool_source_file,
    class_name,
    class_constants,
    symbol_length,
    symbol_body,
    thread_owner,        // from JDK 25 on
    thread_continuation, // likewise
    count_,
};

// Sizes of types; likewise.
enum class HotspotType : uint8_t { block, nmethod, pc, const_method, pool, count_ };

struct HotspotValues {
    static constexpr uint64_t absent = UINT64_MAX;
    int32_t version = 0; // 17 of JDK 17; 0: it does not say one
    // Offsets in bytes; of static ones addresses.
    std::array<uint64_t, static_cast<size_t>(HotspotField::count_)> fields{};
    // How long what is there is; 0: it is no number, nor an address.
    std::array<uint8_t, static_cast<size_t>(HotspotField::count_)> bytes{};
    std::array<uint64_t, static_cast<size_t>(HotspotType::count_)> sizes{};

    uint64_t operator[](HotspotField field) const { return fields[static_cast<size_t>(field)]; }
    uint64_t operator[](HotspotType type) const { return sizes[static_cast<size_t>(type)]; }
    uint8_t bytes_of(HotspotField field) const { return bytes[static_cast<size_t>(field)]; }
    bool is_known_version() const { return version >= first_hotspot && version <= last_hotspot; }
    // Tables of places and scopes are no part of the code any more, but on the C heap.
    bool has_immutable_data() const { return version >= 23; }
    // Nor are methods that compiled code names.
    bool has_mutable_data() const { return version >= 25; }
    // What a thread works for owns monitors, by its number: a virtual thread while one is mounted.
    bool has_owners() const { return version >= 25; }
    // Callees of method handles return to another address than others where code is given up.
    bool has_mh_handler() const { return version <= 25; }
    // No byte of a compressed number is zero.
    bool has_numbers_without_zero() const { return version >= 20; }
    friend bool operator==(const HotspotValues&, const HotspotValues&) = default;
};

// Why they are not there, or not all of them.
enum class VmStructsProblem : uint8_t {
    unreadable, // or not there yet
    unknown,    // not all of it is there that its version has, or of other types
    late,       // see MemoryRead
};

struct VmStructs {
    HotspotValues values; // `absent`: of what is not there
    std::optional<VmStructsProblem> problem{};
};

// `structs`, `types`: where the addresses of the tables lie in the process.
VmStructs read_vm_structs(const ReadMemory& read, uint64_t structs, uint64_t types);

} // namespace auger
