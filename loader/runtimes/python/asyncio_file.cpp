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
    word_thread_running = 11,
    debug_words = 13,
};

constexpr uint64_t task_limit = 4096, thread_state_limit = 1 << 20;

bool can_be_asyncio(const AsyncioOffsets& offsets) {
    constexpr uint32_t pointer = 8;
    return offsets.task_coroutine <= task_limit - pointer &&
           offsets.task_name <= task_limit - pointer &&
           offsets.future_state <= task_limit - pointer && offsets.thread_running != 0 &&
           offsets.thread_running <= thread_state_limit - pointer;
}

std::optional<AsyncioFile> asyncio_file_of(uint64_t coroutine, uint64_t name, uint64_t state,
                                           uint64_t running) {
    for (const uint64_t offset : {coroutine, name, state, running})
        if (offset > UINT32_MAX)
            return std::nullopt;
    const AsyncioOffsets offsets = {.task_coroutine = static_cast<uint32_t>(coroutine),
                                    .task_name = static_cast<uint32_t>(name),
                                    .future_state = static_cast<uint32_t>(state),
                                    .thread_running = static_cast<uint32_t>(running)};
    return can_be_asyncio(offsets) ? std::optional(AsyncioFile{offsets}) : std::nullopt;
}

} // namespace

std::optional<AsyncioFile> parse_asyncio_file(std::span<const std::byte> section) {
    std::array<uint64_t, debug_words> word;
    if (section.size() < sizeof word)
        return std::nullopt;
    std::memcpy(word.data(), section.data(), sizeof word);
    if (word[word_task_awaited_by] > task_limit)
        return std::nullopt;
    return asyncio_file_of(word[word_task_coroutine], word[word_task_name],
                           word[word_task_awaited_by] + sizeof(uint64_t),
                           word[word_thread_running]);
}

std::string encode_asyncio_file(const AsyncioFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(file.offsets.task_coroutine);
    out.varint(file.offsets.task_name);
    out.varint(file.offsets.future_state);
    out.varint(file.offsets.thread_running);
    return bytes;
}

std::optional<AsyncioFile> decode_asyncio_file(std::string_view bytes) {
    ByteReader in(bytes);
    const uint64_t coroutine = in.varint(), name = in.varint(), state = in.varint(),
                   running = in.varint();
    if (in.failed() || !in.at_end())
        return std::nullopt;
    return asyncio_file_of(coroutine, name, state, running);
}

} // namespace auger
