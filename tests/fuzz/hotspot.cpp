// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/runtimes/hotspot/frame_reader.h"
#include "loader/runtimes/hotspot/hotspot_file.h"
#include "loader/runtimes/hotspot/layout.h"
#include "loader/runtimes/hotspot/line_table.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

namespace auger::test {
namespace {

using F = HotspotField;
using T = HotspotType;

// A memory that has the input at each multiple of 64 KB, and zeros behind it.
class Memory {
  public:
    explicit Memory(std::span<const std::byte> content) : content_(content) {}

    MemoryRead read(uint64_t address, void* bytes, size_t size) {
        // By pages, and so many at most.
        if (size > 4096 || ++reads_ > 40'000)
            std::abort();
        if (address >> 60)
            return address >> 63 ? MemoryRead::late : MemoryRead::unreadable;
        const size_t at = address & 0xffff;
        std::memset(bytes, 0, size);
        if (at < content_.size())
            std::memcpy(bytes, content_.data() + at, std::min(size, content_.size() - at));
        return MemoryRead::whole;
    }

  private:
    std::span<const std::byte> content_;
    size_t reads_ = 0;
};

// One of each form.
constexpr std::array<int32_t, 4> versions = {17, 21, 23, 25};

// Close together, so that a small input has all of it.
HotspotValues small_values(int32_t version) {
    HotspotValues values;
    values.version = version;
    const auto set = [&](F field, uint64_t value) {
        values.fields[static_cast<size_t>(field)] = value;
    };
    set(F::block_used, 8);
    set(F::blob_name, 0);
    set(F::blob_size, 8);
    set(F::blob_header_size, 12);
    set(F::blob_frame_complete, 16);
    set(F::blob_frame_size, 20);
    set(F::blob_code, 24);
    set(F::nmethod_method, 32);
    set(F::nmethod_scopes, 40);
    set(F::nmethod_deopt_handler, 48);
    set(F::nmethod_compile_id, 56);
    set(F::nmethod_original_pc, 60);
    set(F::nmethod_metadata, 64);
    set(F::nmethod_pcs, 68);
    set(F::nmethod_pcs_end, 72);
    set(F::nmethod_immutable, 40);
    set(F::nmethod_immutable_size, 52);
    set(F::blob_mutable, 80);
    set(F::blob_relocations, 88);
    set(F::blob_data, 88);
    set(F::pc_scope, 4);
    set(F::method_const, 8);
    set(F::const_constants, 8);
    set(F::const_size, 16);
    set(F::const_flags, 20);
    set(F::const_code_size, 22);
    set(F::const_name, 24);
    set(F::pool_holder, 8);
    set(F::pool_length, 16);
    set(F::pool_source_file, 20);
    set(F::class_name, 8);
    set(F::class_constants, 16);
    set(F::symbol_body, 2);
    values.sizes[static_cast<size_t>(T::block)] = 16;
    values.sizes[static_cast<size_t>(T::nmethod)] = values.has_immutable_data() ? 96 : 76;
    values.sizes[static_cast<size_t>(T::pc)] = 8;
    values.sizes[static_cast<size_t>(T::const_method)] = 32;
    values.sizes[static_cast<size_t>(T::pool)] = 24;
    return values;
}

wire_hotspot small_walk(const HotspotValues& values) {
    const auto in_block = [&](F field) { return static_cast<uint32_t>(16 + values[field]); };
    wire_hotspot walk{};
    walk.block_blob = 16;
    walk.block_name = in_block(F::blob_name);
    walk.block_size = in_block(F::blob_size);
    const auto number = [&](F field, unsigned bits, unsigned bits_later) {
        return wire_hotspot_number{
            static_cast<__wire_u16>(in_block(field)),
            static_cast<__wire_u16>(values.has_immutable_data() ? bits_later : bits)};
    };
    walk.block_header_size = number(F::blob_header_size, 32, 16);
    walk.block_code = number(F::blob_code, 64, 32);
    walk.nmethod_header_size = static_cast<uint32_t>(values[T::nmethod]);
    walk.block_method = in_block(F::nmethod_method);
    walk.block_compile_id = in_block(F::nmethod_compile_id);
    walk.block_pcs = in_block(F::nmethod_pcs);
    walk.block_pcs_end = in_block(F::nmethod_pcs_end);
    return walk;
}

void check(const HotspotFrameAnswer& answer) {
    const auto* const frame = std::get_if<HotspotFrame>(&answer);
    if (!frame)
        return;
    // Two names and dots between.
    constexpr size_t most_bytes = 2 * (1024 + 3) + 1, most_methods = 128;
    if (frame->empty() || frame->size() > most_methods)
        std::abort();
    for (const HotspotFunction& function : *frame)
        if (function.name.size() > most_bytes || function.file.size() > most_bytes ||
            function.line > INT32_MAX)
            std::abort();
}

void check(const wire_hotspot& walk) {
    for (const wire_hotspot_heap& heap : walk.heaps)
        if (heap.size > uint64_t{1} << 40 || heap.segment_bits > WIRE_HOTSPOT_SEGMENT_BITS)
            std::abort();
    for (const uint32_t at : {walk.block_used, walk.block_name, walk.block_size, walk.block_method,
                              walk.block_compile_id, walk.block_pcs_end})
        if (at >= WIRE_HOTSPOT_BLOCK_BYTES)
            std::abort();
    for (const wire_hotspot_number& number :
         {walk.block_header_size, walk.block_frame_complete, walk.block_code,
          walk.block_deopt_handler, walk.block_deopt_mh_handler})
        if (number.at % 8 + number.bits / 8 > 8 ||
            number.at + number.bits / 8 > WIRE_HOTSPOT_BLOCK_BYTES)
            std::abort();
}

} // namespace

// The memory of a process; four bytes before it say what is looked for, and in which version.
void fuzz_hotspot(const uint8_t* data, size_t size) {
    if (const auto file = decode_hotspot_file({reinterpret_cast<const char*>(data), size}))
        if (decode_hotspot_file(encode_hotspot_file(*file)) != *file)
            std::abort();
    uint32_t number;
    if (size < sizeof number)
        return;
    std::memcpy(&number, data, sizeof number);
    const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
    const auto content = input.subspan(sizeof number);
    for (const bool without_zero : {false, true})
        if (hotspot_line(content, number, without_zero) > INT32_MAX)
            std::abort();

    Memory memory(content);
    const ReadMemory read = [&](uint64_t address, void* bytes, size_t bytes_size) {
        return memory.read(address, bytes, bytes_size);
    };
    if (const auto layout = hotspot_layout(read, 0, 8))
        check(layout->walk);

    const HotspotValues values = small_values(versions[number >> 30]);
    const wire_hotspot walk = small_walk(values);
    wire_hotspot found = walk;
    if (find_hotspot_code(read, values, found))
        check(found);
    // The cookies that the memory at the beginning has.
    const auto at = [&](uint64_t address, auto value) {
        read(address, &value, sizeof value);
        return value;
    };
    const bool compiled =
        (values.has_immutable_data()
             ? at(walk.block_header_size.at, uint16_t{})
             : at(walk.block_header_size.at, uint32_t{})) == walk.nmethod_header_size;
    const uint32_t code = wire_hotspot_code_cookie(
        at(walk.block_name, uint64_t{}), compiled ? at(walk.block_method, uint64_t{}) : 0,
        at(walk.block_size, uint32_t{}), compiled ? at(walk.block_compile_id, uint32_t{}) : 0);
    const uint64_t offset = number & WIRE_HOTSPOT_MAX_OFFSET;
    check(read_hotspot_code(read, values, walk, 16, offset << 32 | code));
    const uint64_t const_method = at(values[F::method_const], uint64_t{});
    const uint32_t method = wire_hotspot_method_cookie(
        const_method, at(const_method + values[F::const_constants], uint64_t{}),
        at(const_method + values[F::const_name], uint16_t{}),
        at(const_method + values[F::const_code_size], uint16_t{}));
    check(read_hotspot_method(read, values, 0, (offset & 0xffff) << 32 | method));
}

} // namespace auger::test
