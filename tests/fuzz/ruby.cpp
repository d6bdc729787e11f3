// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "bpf/unwind_table.h"
#include "loader/runtimes/ruby/function_reader.h"
#include "loader/runtimes/ruby/layout.h"
#include "loader/runtimes/ruby/ruby_file.h"

#include <algorithm>
#include <array>
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
        // By pages, and so many at most: of one look, and of the one that sees whether all is the
        // same still.
        constexpr size_t page = 4096, most_reads = 2 * BoundedMemory::most_pages;
        if (size > page || ++reads_ > most_reads)
            std::abort();
        if (address >> 60)
            return address >> 63 ? MemoryRead::late : MemoryRead::unreadable;
        const size_t at = address & 0xffff;
        std::memset(bytes, 0, size);
        if (at < content_.size())
            std::memcpy(bytes, content_.data() + at, std::min(size, content_.size() - at));
        return MemoryRead::whole;
    }
    uint64_t word(uint64_t address) {
        uint64_t word = 0;
        read(address, &word, sizeof word);
        return word;
    }

  private:
    std::span<const std::byte> content_;
    size_t reads_ = 0;
};

constexpr uint64_t method = 0x10000, symbols = 0x10230;

uint32_t cookie_of_method(Memory memory) {
    return wire_ruby_method_cookie(memory.word(method + WIRE_RUBY_METHOD_DEFINITION),
                                   memory.word(method + WIRE_RUBY_METHOD_NAME),
                                   memory.word(method + WIRE_RUBY_METHOD_OWNER));
}

uint64_t body_of_method(Memory memory) {
    const uint64_t definition = memory.word(method + WIRE_RUBY_METHOD_DEFINITION);
    return memory.word(memory.word(definition + 8) + WIRE_RUBY_ISEQ_BODY);
}

uint32_t cookie_of_code(Memory memory, uint64_t body) {
    std::array<uint64_t, WIRE_RUBY_BODY_BYTES / 8> words{};
    memory.read(body, words.data(), sizeof words);
    return wire_ruby_code_cookie(words.data());
}

void check(const RubyFunction& function) {
    constexpr size_t text = 1024 + 3; // and three dots
    if (function.name.size() > 3 * text + 1 || function.file.size() > text ||
        !std::ranges::is_sorted(function.lines, {}, &RubyLine::position))
        std::abort();
    for (const uint32_t position : {0u, 1u, 54u, 600u, uint32_t{WIRE_RUBY_NO_OFFSET}})
        if (function.line(position) > 0x0fffffff)
            std::abort();
}

} // namespace

// What a file says, or the memory of a process.
void fuzz_ruby(const uint8_t* data, size_t size) {
    const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
    if (const auto file = decode_ruby_file({reinterpret_cast<const char*>(data), size})) {
        if (decode_ruby_file(encode_ruby_file(*file)) != *file)
            std::abort();
        if (const auto layout = ruby_layout(*file))
            if (!file->context || !file->loop.body_size ||
                layout->frames.frame_bytes < WIRE_RUBY_FRAME_BYTES)
                std::abort();
    }
    for (const uint32_t version : {0x030001u, 0x030102u, 0x030200u, 0x030308u, 0x030400u}) {
        RubyFile file;
        file.version = version;
        file.context = ThreadVariable();
        file.loop.body_size = file.symbols = 1;
        const auto layout = ruby_layout(file);
        if (!layout)
            std::abort();
        const RubyProcess process{*layout, symbols, {}};
        const uint32_t of_method = cookie_of_method(Memory(input));
        const uint64_t body = body_of_method(Memory(input)) & ~uint64_t{WIRE_FRAME_KIND};
        const uint32_t of_code = cookie_of_code(Memory(input), body);
        const std::array<RubyFrameWords, 3> frames = {{
            {WIRE_FRAME_RUBY_METHOD | method, wire_ruby_frame_cookie(of_method, of_code)},
            {WIRE_FRAME_RUBY_METHOD | method, of_method},
            {WIRE_FRAME_RUBY | body, of_code, WIRE_FRAME_RUBY_OWNER | method, of_method},
        }};
        for (const RubyFrameWords& words : frames) {
            const auto read = [held = Memory(input)](uint64_t address, void* bytes,
                                                     size_t count) mutable {
                return held.read(address, bytes, count);
            };
            const auto answer = read_ruby_function(read, process, words);
            if (const auto* const whole = std::get_if<RubyFunction>(&answer))
                check(*whole);
        }
    }
}

} // namespace auger::test
