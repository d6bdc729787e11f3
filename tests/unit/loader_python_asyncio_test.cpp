// SPDX-License-Identifier: GPL-3.0-or-later
// What files that hold _asyncio claim, and modules.
#include "loader/runtimes/python/asyncio_file.h"
#include "loader/runtimes/python/module_name.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {
namespace {

std::vector<std::byte> section_of(const std::array<uint64_t, 13>& words) {
    std::vector<std::byte> bytes(sizeof words);
    std::memcpy(bytes.data(), words.data(), sizeof words);
    return bytes;
}

// What Debian's python3.14 (3.14.10) has there.
constexpr std::array<uint64_t, 13> of_debian = {168,    136,   96,  108, 109, 128, 152,
                                                225864, 10880, 936, 864, 872, 880};

TEST(AsyncioFiles, SayWhereTasksHaveWhat) {
    const auto file = parse_asyncio_file(section_of(of_debian));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->offsets, (AsyncioOffsets{.task_coroutine = 128,
                                             .task_name = 136,
                                             .future_state = 104,
                                             .thread_running = 872,
                                             .task_node = 152,
                                             .thread_tasks = 880,
                                             .interpreter_tasks = 10880}));
    const std::string bytes = encode_asyncio_file(*file);
    EXPECT_EQ(decode_asyncio_file(bytes), file);
    EXPECT_EQ(decode_asyncio_file(bytes + '\0'), std::nullopt);
    for (size_t size = 0; size < bytes.size(); size++)
        EXPECT_EQ(decode_asyncio_file(bytes.substr(0, size)), std::nullopt) << size;
}

TEST(AsyncioFiles, AreBounded) {
    for (const size_t word : {1, 2, 5, 6, 8, 11, 12})
        for (const uint64_t value :
             {UINT64_MAX, uint64_t{1} << 32, uint64_t{(1 << 24) - 7}, UINT64_MAX - 7}) {
            auto words = of_debian;
            words[word] = value;
            EXPECT_EQ(parse_asyncio_file(section_of(words)), std::nullopt) << word << ' ' << value;
        }
    for (const size_t word : {5, 6, 8, 11, 12}) {
        auto none = of_debian;
        none[word] = 0;
        EXPECT_EQ(parse_asyncio_file(section_of(none)), std::nullopt) << word;
    }
    const auto whole = section_of(of_debian);
    EXPECT_EQ(parse_asyncio_file(std::span(whole).first(103)), std::nullopt);
    EXPECT_EQ(parse_asyncio_file({}), std::nullopt);
}

TEST(PythonModules, AreCalledAsTheirFiles) {
    EXPECT_EQ(python_module("/srv/app/views.py"), "views");
    EXPECT_EQ(python_module("views.py"), "views");
    EXPECT_EQ(python_module("/srv/app/__init__.py"), "app");
    EXPECT_EQ(python_module("<string>"), "");
    EXPECT_EQ(python_module("/srv/app"), "");
    EXPECT_EQ(python_module(""), "");
    EXPECT_EQ(python_module(".py"), "");
}

} // namespace
} // namespace auger
