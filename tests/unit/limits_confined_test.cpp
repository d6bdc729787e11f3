// SPDX-License-Identifier: GPL-3.0-or-later
// What a confined process may take. Not built with the address sanitizer, which reserves more than
// any bound.
#include "loader/process/confined_process.h"
#include "loader/process/message.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace auger {
namespace {

std::string answer_of(const char* service, const std::string& request = "?") {
    const auto processes = ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined", {}});
    if (!processes)
        return processes.error().message();
    const auto process = (*processes)->make(service);
    if (!process || !send_message(process->socket(), request))
        return "no process";
    // Generous; nothing here waits for it when all is well.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto answer = receive_message(process->socket(), 4096,
                                        [&] { return std::chrono::steady_clock::now() < end; });
    return answer ? answer->bytes : "no answer";
}

TEST(ConfinedProcess, MemoryIsBounded) {
    const std::string megabytes = answer_of("memory"); // of 400
    ASSERT_EQ(megabytes.find_first_not_of("0123456789"), megabytes.npos) << megabytes;
    EXPECT_GT(std::stoul(megabytes), 0u);
    EXPECT_LT(std::stoul(megabytes), 400u);
}

// Of 400 MB each of these may take most, and all together no more.
TEST(ConfinedProcess, MemoryOfAllTogetherIsBounded) {
    auto processes = ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined", {}});
    ASSERT_TRUE(processes) << processes.error().message();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto in_time = [&] { return std::chrono::steady_clock::now() < end; };
    std::vector<ConfinedProcess> holding;
    for (const char* megabytes : {"60", "100"}) {
        auto process = (*processes)->make("hold");
        ASSERT_TRUE(process && send_message(process->socket(), megabytes));
        const auto answer = receive_message(process->socket(), 16, in_time);
        ASSERT_TRUE(answer);
        holding.push_back(*std::move(process));
    }
    const auto held = (*processes)->memory();
    ASSERT_EQ(held.size(), 2u);
    for (const ConfinedMemory& memory : held) {
        EXPECT_EQ(memory.service, "hold");
        EXPECT_GT(memory.bytes, 60u << 20);
    }
    // The third is the largest by far when there is too much, and ends.
    auto last = (*processes)->make("hold");
    ASSERT_TRUE(last && send_message(last->socket(), "300"));
    while (in_time() && receive_message(last->socket(), 16, in_time))
        continue;
    EXPECT_TRUE(in_time());
    EXPECT_EQ((*processes)->memory().size(), 2u);
    for (const ConfinedProcess& process : holding)
        EXPECT_TRUE(send_message(process.socket(), "end"));
}

TEST(ConfinedProcess, MemoryIsReadAsTheKernelTellsIt) {
    const std::string status =
        "Name:\tauger-names\nUmask:\t0022\nPPid:\t71\nVmRSS:\t  9000 kB\n"
        "RssAnon:\t    1200 kB\nRssFile:\t    7000 kB\nRssShmem:\t     800 kB\n";
    const auto memory = parse_confined_memory(status, 71);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->service, "names");
    EXPECT_EQ(memory->bytes, 2000u << 10);
    EXPECT_FALSE(parse_confined_memory(status, 72));
    EXPECT_FALSE(parse_confined_memory("Name:\tauger-names\nState:\tZ (zombie)\nPPid:\t71\n", 71));
    EXPECT_FALSE(parse_confined_memory("", 71));
}

// The sanitizer needs more of them, so this is the build in which they are filtered.
TEST(ConfinedProcess, SystemCallsAreFew) {
    EXPECT_EQ(answer_of("try"), "");
    const test::TemporaryFolder folder;
    const std::string cache = folder.path("cache");
    std::filesystem::create_directory(cache);
    EXPECT_EQ(answer_of("network", cache), "");
}

} // namespace
} // namespace auger
