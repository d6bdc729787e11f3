// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"
#include "tests/fuzz/input_pages.h"

#include "loader/runtimes/python/asyncio_file.h"
#include "loader/runtimes/python/await_chain.h"
#include "loader/runtimes/python/code_reader.h"
#include "loader/runtimes/python/layout.h"
#include "loader/runtimes/python/line_table.h"
#include "loader/runtimes/python/native_function.h"
#include "loader/runtimes/python/python_file.h"
#include "loader/runtimes/python/task_list.h"
#include "loader/runtimes/python/waiting_tasks.h"

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

// As many tasks, frames and characters as there may be.
void check(const AwaitChain& chain) {
    constexpr size_t name_bytes = TaskReader::name_limit * 4 + 3;
    if (chain.tasks.empty() || chain.tasks.size() > AwaitChain::most_tasks)
        std::abort();
    for (const AwaitChain::Link& link : chain.tasks)
        if (link.frames.size() > CoroutineWalk::most_frames || link.task.name.size() > name_bytes ||
            link.others > 1024)
            std::abort();
}

void find_natives(std::span<const std::byte> content, const PythonLayout& layout) {
    for (const char* const name : {"a", "a.b", "a.b.c.d"}) {
        InputPages pages(content);
        (void)find_native_function(pages.reader(), layout, 0, name);
    }
}

void read_tasks(std::span<const std::byte> content, const PythonLayout& layout) {
    TaskSource source{layout, layout.awaits.asyncio, 0};
    if (!layout.awaits.known)
        return;
    if (!layout.awaits.has_asyncio()) {
        const auto file = parse_asyncio_file(content);
        if (!file)
            return;
        source.asyncio = file->offsets;
    }
    for (const uint64_t address : {uint64_t{0}, uint64_t{0x40}, uint64_t{0x100}}) {
        InputPages tasks(content), chains(content);
        AsyncioObjects known;
        (void)find_task(tasks.reader(), source, address, known);
        (void)read_task(tasks.reader(), source, address);
        const auto chain = read_await_chain(chains.reader(), source, address, known);
        if (const auto* const whole = std::get_if<AwaitChain>(&chain))
            check(*whole);
    }
    size_t looks = 0;
    InputPages lists(content);
    AsyncioObjects known;
    const auto waiting = read_waiting_tasks(
        lists.reader(), source, {content.size(), [&looks] { return ++looks < 4; }, {}}, known);
    if (const auto* const found = std::get_if<WaitingTasks>(&waiting)) {
        if (found->tasks > TaskList::most || found->looked_at > 4)
            std::abort();
        for (const auto& [chain, time_ns] : found->waiting)
            check(chain);
    }
}

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
        std::max({frames.frame_code, frames.frame_previous, frames.frame_instruction,
                  frames.frame_generator}) +
                8 >
            frames.frame_bytes ||
        frames.frame_owner >= frames.frame_bytes || frames.frame_bytes > 255 ||
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
    if (const auto file = decode_asyncio_file({reinterpret_cast<const char*>(data), size}))
        if (decode_asyncio_file(encode_asyncio_file(*file)) != *file)
            std::abort();
    if (const auto file = decode_python_file({reinterpret_cast<const char*>(data), size}))
        if (decode_python_file(encode_python_file(*file)) != *file)
            std::abort();
    uint32_t version;
    if (size < sizeof version)
        return;
    std::memcpy(&version, data, sizeof version);
    const auto content = input.subspan(sizeof version);
    for (const uint32_t offset : {0u, 2u, 100u, version, UINT32_MAX})
        for (const auto form : {python_lines_steps, python_lines_ranges, python_lines_locations})
            if (python_line(form, content, version, offset) > INT32_MAX)
                std::abort();
    python_version_in({reinterpret_cast<const char*>(content.data()), content.size()});

    // A file says what it likes of its version; the memory is read by each layout that comes of it.
    for (const uint32_t claimed : {version, 0x030800f0u, 0x030a00f0u, 0x030b00f0u, 0x030c00f0u,
                                   0x030d00f0u, 0x030e00f0u, 0x030f00f0u}) {
        const auto layout = python_layout(claimed, content);
        if (!layout.ok())
            continue;
        check_layout(*layout);
        read_tasks(content, *layout);
        find_natives(content, *layout);
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
        uint64_t lines = 0;
        uint32_t code_version = 0;
        read(layout->frames.code_lines, &lines, sizeof lines);
        if (layout->frames.code_version)
            read(layout->frames.code_version, &code_version, sizeof code_version);
        const auto code = read_python_code(
            read, *layout, 0, wire_python_cookie(line, file, name, lines, code_version));
        if (const auto* const whole = std::get_if<PythonCode>(&code))
            check(*whole);
    }
}

} // namespace auger::test
