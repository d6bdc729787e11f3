// SPDX-License-Identifier: GPL-3.0-or-later
// What a confined process may take. Not built with the address sanitizer, which reserves more than
// any bound.
#include "loader/process/confined_process.h"
#include "loader/process/message.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace auger {
namespace {

TEST(ConfinedProcess, MemoryIsBounded) {
    const auto processes = ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined", {}});
    ASSERT_TRUE(processes);
    const auto process = (*processes)->make("memory"); // 400 MB
    ASSERT_TRUE(process);
    ASSERT_TRUE(send_message(process->socket(), "?"));
    // Generous; nothing here waits for it when all is well.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto answer = receive_message(process->socket(), 4096,
                                        [&] { return std::chrono::steady_clock::now() < end; });
    ASSERT_TRUE(answer);
    EXPECT_GT(std::stoul(answer->bytes), 0u);
    EXPECT_LT(std::stoul(answer->bytes), 400u);
}

} // namespace
} // namespace auger
