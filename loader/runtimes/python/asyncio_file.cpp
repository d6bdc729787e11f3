// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/asyncio_file.h"

#include "loader/base/bytes.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace auger {
namespace {

// Py_AsyncioModuleDebugOffsets is a row of words. A task's awaited_by is followed by its state.
enum {
    word_task_name = 1,
    word_task_awaited_by = 2,
    word_task_coroutine = 5,
    word_task_node = 6,
    word_interpreter_tasks = 8,
    word_thread_running = 11,
    word_thread_tasks = 12,
    debug_words = 13,
};

constexpr uint32_t pointer = 8;
constexpr uint32_t task_limit = 4096, thread_state_limit = 1 << 20, interpreter_limit = 1 << 24;

// Its members, and how large the object is that each lies in.
struct Member {
    uint32_t AsyncioOffsets::*offset;
    uint32_t limit;
    bool may_be_zero;
};
constexpr Member members[] = {
    {&AsyncioOffsets::task_coroutine, task_limit, false},
    {&AsyncioOffsets::task_name, task_limit, true},
    {&AsyncioOffsets::future_state, task_limit, true},
    {&AsyncioOffsets::thread_running, thread_state_limit, false},
    {&AsyncioOffsets::task_node, task_limit, false},
    {&AsyncioOffsets::thread_tasks, thread_state_limit, false},
    {&AsyncioOffsets::interpreter_tasks, interpreter_limit, false},
};

// In the order of `members`.
using Offsets = std::array<uint64_t, std::size(members)>;

std::optional<AsyncioFile> asyncio_file_of(const Offsets& offsets) {
    AsyncioFile file{};
    for (size_t i = 0; i < offsets.size(); i++) {
        const Member& member = members[i];
        if (offsets[i] > member.limit - pointer || (offsets[i] == 0 && !member.may_be_zero))
            return std::nullopt;
        file.offsets.*member.offset = static_cast<uint32_t>(offsets[i]);
    }
    return file;
}

} // namespace

std::optional<AsyncioFile> parse_asyncio_file(std::span<const std::byte> section) {
    std::array<uint64_t, debug_words> word;
    if (section.size() < sizeof word)
        return std::nullopt;
    std::memcpy(word.data(), section.data(), sizeof word);
    if (word[word_task_awaited_by] > task_limit)
        return std::nullopt;
    return asyncio_file_of({word[word_task_coroutine], word[word_task_name],
                            word[word_task_awaited_by] + sizeof(uint64_t),
                            word[word_thread_running], word[word_task_node],
                            word[word_thread_tasks], word[word_interpreter_tasks]});
}

std::string encode_asyncio_file(const AsyncioFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    for (const Member& member : members)
        out.varint(file.offsets.*member.offset);
    return bytes;
}

std::optional<AsyncioFile> decode_asyncio_file(std::string_view bytes) {
    ByteReader in(bytes);
    Offsets offsets;
    for (uint64_t& offset : offsets)
        offset = in.varint();
    if (in.failed() || !in.at_end())
        return std::nullopt;
    return asyncio_file_of(offsets);
}

} // namespace auger
