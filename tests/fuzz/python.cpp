// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/runtimes/python/code_reader.h"
#include "loader/runtimes/python/layout.h"
#include "loader/runtimes/python/line_table.h"
#include "loader/runtimes/python/python_file.h"

#include <algorithm>
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
        // Nobody reads more at once than the largest of what is bounded.
        if (size > 1 << 20)
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
};

// Nothing is longer than its limit: characters of four bytes, and three dots.
void check(const PythonCode& code) {
    constexpr size_t name_bytes = 1024 * 4 + 3;
    if (code.function.size() > name_bytes || code.file.size() > name_bytes ||
        code.lines.size() > 1 << 20)
        std::abort();
}

void check_layout(const PythonLayout& layout) {
    const wire_python_layout& frames = layout.frames;
    if (std::max({frames.thread_next, frames.thread_id, frames.thread_frame}) + 8 >
            WIRE_PYTHON_THREAD_BYTES ||
        std::max({frames.frame_code, frames.frame_previous, frames.frame_instruction}) + 8 >
            WIRE_PYTHON_FRAME_BYTES ||
        frames.frame_owner >= WIRE_PYTHON_FRAME_BYTES ||
        frames.code_line + 4 > WIRE_PYTHON_CODE_BYTES ||
        std::max({frames.code_file, frames.code_name, frames.code_lines}) + 8 >
            WIRE_PYTHON_CODE_BYTES ||
        std::max({frames.runtime_interpreters, frames.interpreter_next,
                  frames.interpreter_threads}) >= 16 << 20)
        std::abort();
}

} // namespace

// Four bytes of version, then what _PyRuntime begins with, or memory, or a table of lines.
void fuzz_python(const uint8_t* data, size_t size) {
    const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
    if (const auto file = decode_python_file({reinterpret_cast<const char*>(data), size}))
        if (decode_python_file(encode_python_file(*file)) != *file)
            std::abort();
    uint32_t version;
    if (size < sizeof version)
        return;
    std::memcpy(&version, data, sizeof version);
    const auto content = input.subspan(sizeof version);
    for (const uint32_t offset : {0u, 2u, 100u, version, UINT32_MAX})
        if (python_line(content, version, offset) > INT32_MAX)
            std::abort();

    // A file says what it likes of its version; the memory is read by each layout that comes of it.
    for (const uint32_t claimed :
         {version, 0x030b00f0u, 0x030c00f0u, 0x030d00f0u, 0x030e00f0u, 0x030f00f0u}) {
        const auto layout = python_layout(claimed, content);
        if (!layout.ok())
            continue;
        check_layout(*layout);
        Memory memory(content);
        const auto read = [&](uint64_t address, void* bytes, size_t bytes_size) {
            return memory.read(address, bytes, bytes_size);
        };
        // The cookie that the memory at the beginning has.
        uint32_t line = 0;
        uint64_t file = 0, name = 0;
        read(layout->frames.code_line, &line, sizeof line);
        read(layout->frames.code_file, &file, sizeof file);
        read(layout->frames.code_name, &name, sizeof name);
        const auto code = read_python_code(read, *layout, 0, wire_python_cookie(line, file, name));
        if (const auto* const whole = std::get_if<PythonCode>(&code))
            check(*whole);
    }
}

} // namespace auger::test
