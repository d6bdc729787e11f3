// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"
#include "tests/fuzz/input_pages.h"

#include "loader/runtimes/php/function_reader.h"
#include "loader/runtimes/php/layout.h"
#include "loader/runtimes/php/native_function.h"
#include "loader/runtimes/php/php_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

namespace auger::test {
namespace {

// A memory that has the input at each multiple of 64 KB.
class Memory {
  public:
    explicit Memory(std::span<const std::byte> content) : content_(content) {}

    MemoryRead read(uint64_t address, void* bytes, size_t size) {
        const size_t offset = address & 0xffff;
        // Nobody reads more at once than the longest text, nor more often than three texts take.
        if (size > 1024 || ++reads_ > 40)
            std::abort();
        if (address >> 60)
            return address >> 63 ? MemoryRead::late : MemoryRead::unreadable;
        if (offset > content_.size() || size > content_.size() - offset)
            return MemoryRead::unreadable;
        std::memcpy(bytes, content_.data() + offset, size);
        return MemoryRead::whole;
    }

  private:
    std::span<const std::byte> content_;
    size_t reads_ = 0;
};

// The cookie that a function at the beginning of the memory has.
uint32_t cookie_of(Memory memory, const PhpLayout& layout) {
    const auto at = [&](uint64_t address, auto value) {
        memory.read(address, &value, sizeof value);
        return value;
    };
    const auto mark = [&](uint64_t text) -> uint64_t {
        if (!text)
            return 0;
        const uint64_t hash = at(text + WIRE_PHP_TEXT_HASH, uint64_t{});
        const uint64_t length = at(text + WIRE_PHP_TEXT_LENGTH, uint64_t{});
        const uint64_t end = text + WIRE_PHP_TEXT_CHARACTERS + length;
        return wire_php_mark(hash, length, at(end - 16, uint64_t{}), at(end - 8, uint64_t{}));
    };
    const bool is_user = wire_php_is_user(at(WIRE_PHP_FUNCTION_TYPE, uint8_t{})) != 0;
    const uint64_t scope = at(WIRE_PHP_FUNCTION_SCOPE, uint64_t{});
    return wire_php_cookie(is_user ? at(layout.function_line, uint32_t{}) : 0,
                           scope ? mark(at(scope + WIRE_PHP_CLASS_NAME, uint64_t{})) : 0,
                           mark(at(WIRE_PHP_FUNCTION_NAME, uint64_t{})),
                           is_user ? mark(at(layout.function_file, uint64_t{})) : 0);
}

void check(const PhpFunction& function) {
    constexpr size_t text = 1024 + 3; // and three dots
    if (function.name.size() > 2 * text + 2 || function.file.size() > text)
        std::abort();
}

} // namespace

// What a file says, or the memory of a process.
void fuzz_php(const uint8_t* data, size_t size) {
    const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
    if (const auto file = decode_php_file({reinterpret_cast<const char*>(data), size})) {
        if (decode_php_file(encode_php_file(*file)) != *file)
            std::abort();
        if (const auto layout = php_layout(*file))
            if (!layout->loop.body_size || layout->function_line + 4 > WIRE_PHP_FUNCTION_BYTES)
                std::abort();
    }
    for (const uint32_t version : {0x070400u, 0x080000u, 0x080200u, 0x080300u, 0x080400u}) {
        PhpFile file;
        file.version = version;
        file.loop.body_size = 1;
        const auto layout = php_layout(file);
        if (!layout)
            std::abort();
        const Memory memory(input);
        const auto read = [held = memory](uint64_t address, void* bytes, size_t count) mutable {
            return held.read(address, bytes, count);
        };
        const auto answer = read_php_function(read, *layout, 0, cookie_of(memory, *layout));
        if (const auto* const whole = std::get_if<PhpFunction>(&answer))
            check(*whole);
        for (const char* const name : {"a", "A::b"}) {
            InputPages pages(input);
            (void)find_native_function(pages.reader(), *layout, 0, name);
        }
    }
}

} // namespace auger::test
