// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/hotspot/layout.h"

#include "loader/runtimes/bounded_memory.h"

#include <fmt/format.h>

#include <string>

namespace auger {
namespace {

using F = HotspotField;
using T = HotspotType;

// Of what is told by tables, which the process may have written itself.
constexpr uint64_t heap_limit = uint64_t{1} << 40, queue_limit = 64 << 20, object_limit = 4096;

constexpr const char* shown_instead = "generated code is shown by its addresses instead";

Error unknown(const std::string& subject, const std::string& cause) {
    return {"show Java's methods", subject, cause, shown_instead, Error::Kind::unsupported};
}

// Where a field lies in what is read at once; all of it in `limit` bytes, and none across two
// words.
class Place {
  public:
    Place(const HotspotValues& values, uint64_t before, uint64_t limit)
        : values_(values), before_(before), limit_(limit) {}

    uint32_t of(F field) {
        const uint64_t at = before_ + values_[field], size = values_.bytes_of(field);
        if (at <= limit_ && size <= limit_ - at && size != 0 && at % size == 0)
            return static_cast<uint32_t>(at);
        failed_ = true;
        return 0;
    }
    wire_hotspot_number number(F field) {
        constexpr unsigned bits = 8;
        return {static_cast<__wire_u16>(of(field)),
                static_cast<__wire_u16>(values_.bytes_of(field) * bits)};
    }
    bool failed() const { return failed_; }

  private:
    const HotspotValues& values_;
    const uint64_t before_, limit_;
    bool failed_ = false;
};

// What walks need of it; nothing when that cannot be.
std::optional<wire_hotspot> walk_layout(const HotspotValues& values) {
    const uint64_t header = values[T::block];
    if (header > WIRE_HOTSPOT_BLOCK_BYTES || values[T::nmethod] > object_limit ||
        values[T::const_method] > object_limit || values[F::method_const] > object_limit)
        return std::nullopt;
    Place block(values, 0, header);
    Place blob(values, header, WIRE_HOTSPOT_BLOCK_BYTES);
    Place method(values, 0, WIRE_HOTSPOT_CONST_BYTES);
    wire_hotspot walk{};
    walk.block_blob = static_cast<uint32_t>(header);
    walk.block_used = block.of(F::block_used);
    walk.block_name = blob.of(F::blob_name);
    walk.block_size = blob.of(F::blob_size);
    walk.block_header_size = blob.number(F::blob_header_size);
    walk.block_frame_complete = blob.number(F::blob_frame_complete);
    walk.block_frame_size = blob.of(F::blob_frame_size);
    walk.block_code = blob.number(F::blob_code);
    walk.nmethod_header_size = static_cast<uint32_t>(values[T::nmethod]);
    walk.block_method = blob.of(F::nmethod_method);
    walk.block_compile_id = blob.of(F::nmethod_compile_id);
    walk.block_deopt_handler = blob.number(F::nmethod_deopt_handler);
    walk.block_deopt_mh_handler = values.has_mh_handler() ? blob.number(F::nmethod_deopt_mh_handler)
                                                          : walk.block_deopt_handler;
    walk.block_original_pc = blob.of(F::nmethod_original_pc);
    walk.block_pcs = blob.of(F::nmethod_pcs);
    walk.block_pcs_end = blob.of(F::nmethod_pcs_end);
    // Names read these of what is read at once, too.
    for (const F field : {F::nmethod_scopes, F::nmethod_immutable, F::nmethod_immutable_size,
                          F::nmethod_metadata, F::blob_data, F::blob_mutable, F::blob_relocations})
        if (values.bytes_of(field))
            (void)blob.of(field);
    walk.method_const = static_cast<uint32_t>(values[F::method_const]);
    walk.const_constants = method.of(F::const_constants);
    walk.const_code_size = method.of(F::const_code_size);
    walk.const_name = method.of(F::const_name);
    walk.const_bytecode = static_cast<uint32_t>(values[T::const_method]);
    if (block.failed() || blob.failed() || method.failed())
        return std::nullopt;
    return walk;
}

// Of what names need beside.
bool is_believable(const HotspotValues& values) {
    for (const F field :
         {F::array_length,      F::array_data,  F::heap_memory,     F::heap_segments,
          F::heap_segment_bits, F::space_low,   F::space_high,      F::queue_buffer,
          F::queue_limit,       F::queue_end,   F::pc_offset,       F::pc_scope,
          F::const_size,        F::const_flags, F::pool_holder,     F::pool_length,
          F::pool_source_file,  F::class_name,  F::class_constants, F::symbol_length,
          F::symbol_body})
        if (values[field] > object_limit)
            return false;
    if (values.has_owners() && (values[F::thread_owner] > object_limit ||
                                values[F::thread_continuation] > object_limit))
        return false;
    constexpr uint64_t number = 4;
    return values[T::pc] <= object_limit && values[T::pool] <= object_limit &&
           values[T::pc] >= number && values[F::pc_offset] <= values[T::pc] - number &&
           values[F::pc_scope] <= values[T::pc] - number;
}

// The interpreter is made when all heaps are there, and in more room than it takes: what is left is
// given back at the end, but for less than a page, and other code comes there. Until then where it
// ends is not known.
bool find_hotspot_interpreter(BoundedMemory& memory, const HotspotValues& values,
                              wire_hotspot& walk) {
    constexpr int32_t page = 4096;
    uint64_t queue = 0;
    int32_t size = 0, end = 0;
    if (!memory.get(values[F::interpreter_queue], queue) || queue == 0 ||
        !memory.get(queue + values[F::queue_buffer], walk.interpreter) ||
        !memory.get(queue + values[F::queue_limit], size) ||
        !memory.get(queue + values[F::queue_end], end) || end <= 0 || end > size ||
        size - end >= page || static_cast<uint64_t>(size) > queue_limit)
        return false;
    walk.interpreter_size = static_cast<uint64_t>(end);
    return true;
}

} // namespace

bool find_hotspot_code(const ReadMemory& read, const HotspotValues& values, wire_hotspot& walk) {
    // First, so that the heaps are whole that are read behind it.
    BoundedMemory before(read);
    if (!find_hotspot_interpreter(before, values, walk))
        return false;
    BoundedMemory memory(read);
    uint64_t array = 0, elements = 0;
    int32_t length = 0;
    if (!memory.get(values[F::code_heaps], array) || array == 0 ||
        !memory.get(array + values[F::array_length], length) ||
        !memory.get(array + values[F::array_data], elements) || length <= 0 ||
        length > WIRE_HOTSPOT_HEAPS)
        return false;
    for (int32_t i = 0; i < length; i++) {
        wire_hotspot_heap& heap = walk.heaps[i];
        uint64_t at = 0, high = 0;
        int32_t bits = 0;
        const uint64_t low_at = values[F::heap_memory] + values[F::space_low];
        const uint64_t high_at = values[F::heap_memory] + values[F::space_high];
        if (!memory.get(elements + static_cast<uint64_t>(i) * sizeof at, at) ||
            !memory.get(at + low_at, heap.low) || !memory.get(at + high_at, high) ||
            !memory.get(at + values[F::heap_segments] + values[F::space_low], heap.segments) ||
            !memory.get(at + values[F::heap_segment_bits], bits) || heap.low == 0 ||
            heap.segments == 0 || high <= heap.low || high - heap.low > heap_limit || bits < 0 ||
            bits > WIRE_HOTSPOT_SEGMENT_BITS)
            return false;
        for (int32_t k = 0; k < i; k++)
            if (heap.low < walk.heaps[k].low + walk.heaps[k].size && walk.heaps[k].low < high)
                return false;
        heap.size = high - heap.low;
        heap.segment_bits = static_cast<uint32_t>(bits);
    }
    return true;
}

Result<HotspotLayout> hotspot_layout(const ReadMemory& read, uint64_t structs, uint64_t types) {
    const VmStructs tables = read_vm_structs(read, structs, types);
    if (tables.problem && *tables.problem != VmStructsProblem::unknown)
        return Error{"read HotSpot's tables", "gHotSpotVMStructs", "they are not there yet", ""};
    HotspotLayout layout{tables.values, {}};
    const HotspotValues& values = layout.values;
    if (values.version && !values.is_known_version())
        return unknown(
            fmt::format("of HotSpot {}", values.version),
            fmt::format("auger knows the structures of {} to {}", first_hotspot, last_hotspot));
    // Perhaps not yet: the dynamic linker has them relocated one after the other.
    if (tables.problem)
        return Error{"show Java's methods", "of a HotSpot",
                     values.version
                         ? fmt::format("its structures are not those of {}", values.version)
                         : "it does not say its version",
                     shown_instead};
    const auto walk = is_believable(values) ? walk_layout(values) : std::nullopt;
    if (!walk)
        return unknown("of a HotSpot", "where it says that its structures are, they cannot be");
    layout.walk = *walk;
    if (values.has_owners()) {
        layout.thread_owner = static_cast<uint32_t>(values[F::thread_owner]);
        layout.thread_continuation = static_cast<uint32_t>(values[F::thread_continuation]);
    }
    if (!find_hotspot_code(read, values, layout.walk))
        return Error{"read HotSpot's heaps of code", "CodeCache", "they are not there yet", ""};
    return layout;
}

} // namespace auger
