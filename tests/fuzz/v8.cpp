// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/runtimes/v8/code_reader.h"
#include "loader/runtimes/v8/function_reader.h"
#include "loader/runtimes/v8/layout.h"
#include "loader/runtimes/v8/script_lines.h"
#include "loader/runtimes/v8/source_positions.h"
#include "loader/runtimes/v8/v8_file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

namespace auger::test {
namespace {

// A memory that has the input at each multiple of 64 KB, and zeros behind it.
class Memory {
  public:
    explicit Memory(std::span<const std::byte> content) : content_(content) {}

    MemoryRead read(uint64_t address, void* bytes, size_t size) {
        // By pages, or pieces of a text, and so many at most.
        constexpr size_t page = 4096, piece = 16 << 10, most_reads = 10'000, most_pieces = 16;
        if (size > piece || ++reads_ > most_reads)
            std::abort();
        if (address >> 60 || (size > page && ++pieces_ > most_pieces))
            return address >> 63 ? MemoryRead::late : MemoryRead::unreadable;
        const size_t at = address & 0xffff;
        std::memset(bytes, 0, size);
        if (at < content_.size())
            std::memcpy(bytes, content_.data() + at, std::min(size, content_.size() - at));
        return MemoryRead::whole;
    }

  private:
    std::span<const std::byte> content_;
    size_t reads_ = 0, pieces_ = 0;
};

// Close together, so that a small input has all of it.
V8Layout small_layout(bool begins_with_place) {
    V8Layout layout{};
    wire_v8& walk = layout.walk;
    walk.map_type = 8;
    walk.shared_bytes = 40;
    walk.shared_data = 8;
    walk.shared_name = 16;
    walk.shared_script = 24;
    walk.shared_literal = 32;
    walk.shared_unique = 36;
    walk.shared_type = 0x101;
    walk.bytecode_type = 0x104;
    walk.code_start = 8;
    walk.code_size = 16;
    V8Objects& objects = layout.objects;
    objects.map_type = walk.map_type;
    objects.bytecode_length = 8;
    objects.bytecode_positions = 16;
    objects.bytecode_data = 24;
    objects.interpreter_data_type = 0x105;
    objects.interpreter_data_bytecode = 8;
    objects.code_type = 0x106;
    objects.code_bytecode = 8;
    objects.code_data = 24;
    objects.code_positions = 32;
    objects.array_length = 8;
    objects.array_data = 16;
    objects.scope_type = 0x102;
    objects.scope_flags = 8;
    objects.scope_locals = 16;
    objects.scope_variables = 24;
    objects.scope_begins_with_place = begins_with_place;
    objects.scope_module = 3;
    objects.script_type = 0x103;
    objects.script_source = 8;
    objects.script_name = 16;
    objects.script_id = 24;
    objects.string_length = 8;
    objects.one_byte_characters = 16;
    objects.two_byte_characters = 16;
    objects.cons_first = 16;
    objects.cons_second = 24;
    objects.sliced_parent = 16;
    objects.sliced_offset = 24;
    objects.thin_actual = 16;
    objects.external_data = 16;
    objects.not_string_mask = 0xff80;
    objects.representation_mask = 7;
    objects.encoding_mask = 8;
    objects.one_byte_tag = 8;
    objects.cons_tag = 1;
    objects.external_tag = 2;
    objects.sliced_tag = 3;
    objects.thin_tag = 5;
    return layout;
}

void check(const V8Layout& layout) {
    for (const uint32_t at :
         {layout.walk.shared_data, layout.walk.shared_name, layout.walk.shared_script,
          layout.walk.shared_literal, layout.walk.shared_unique})
        if (at >= layout.walk.shared_bytes || layout.walk.shared_bytes > WIRE_V8_SHARED_BYTES)
            std::abort();
    for (const uint32_t at : {layout.walk.frame_context, layout.walk.frame_function,
                              layout.walk.frame_bytecode, layout.walk.frame_offset})
        if (at == 0 || at > 256)
            std::abort();
}

void check(const V8Function& function) {
    // Of each character three bytes at most, of a pair of surrogates four, and dots.
    constexpr size_t most_name = 3 * 512 + 3, most_file = 3 * 4096 + 3;
    if (function.name.size() > most_name || function.file.size() > most_file)
        std::abort();
    if (function.begin && (!function.end || *function.end < *function.begin))
        std::abort();
}

void check(const V8Lines& lines, const V8Script& script, uint32_t position) {
    if (!std::ranges::is_sorted(lines.ends) ||
        (!lines.ends.empty() && lines.ends.back() >= script.length))
        std::abort();
    const V8Place place = v8_place(lines, position);
    if (lines.known ? place.line > lines.ends.size() + 1 || place.line == 0 : place.line != 0)
        std::abort();
}

} // namespace

// The memory of a process; four bytes before it say what is looked for.
void fuzz_v8(const uint8_t* data, size_t size) {
    if (const auto file = decode_v8_file({reinterpret_cast<const char*>(data), size})) {
        if (decode_v8_file(encode_v8_file(*file)) != *file)
            std::abort();
        V8File known = *file;
        known.version[0] = 12;
        known.version[1] = 4;
        if (const auto layout = v8_layout(known))
            check(*layout);
    }
    uint32_t number;
    if (size < sizeof number)
        return;
    std::memcpy(&number, data, sizeof number);
    const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
    const auto content = input.subspan(sizeof number);
    if (const auto found = v8_source_position(content, number))
        if (found->position >= uint32_t{1} << 30 || found->inlined.value_or(0) >= 1 << 16)
            std::abort();

    Memory memory(content);
    const ReadMemory read = [&](uint64_t address, void* bytes, size_t bytes_size) {
        return memory.read(address, bytes, bytes_size);
    };
    const V8Layout layout = small_layout(number >> 31);
    // The cookie that the function at the beginning has.
    const auto at = [&](uint32_t offset, auto value) {
        read(offset, &value, sizeof value);
        return value;
    };
    const wire_v8& walk = layout.walk;
    const uint32_t cookie =
        wire_v8_cookie(at(walk.shared_name, uint64_t{}), at(walk.shared_script, uint64_t{}),
                       at(walk.shared_literal, uint32_t{}), at(walk.shared_unique, uint32_t{}));
    const uint64_t offset = number & WIRE_V8_COMPILED;
    const uint32_t code =
        wire_v8_code_cookie(at(walk.code_start, uint64_t{}), at(walk.code_size, uint32_t{}));
    const auto place = read_v8_code_place(read, layout, WIRE_V8_TAG, offset << 32 | code,
                                          at(number & 0xff, uint64_t{}));
    if (const auto* const known = std::get_if<V8CodePlace>(&place))
        if (known->inlined.size() > 128 || (!known->inlined.empty() && !known->position))
            std::abort();
    const auto answer = read_v8_function(read, layout, WIRE_V8_TAG, offset << 32 | cookie);
    const auto* const function = std::get_if<V8Function>(&answer);
    if (!function)
        return;
    check(*function);
    if (!function->script)
        return;
    const auto lines = read_v8_lines(read, layout, *function->script);
    if (const auto* const known = std::get_if<V8Lines>(&lines))
        check(*known, *function->script, number);
}

} // namespace auger::test
