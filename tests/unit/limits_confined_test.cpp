// SPDX-License-Identifier: GPL-3.0-or-later
// What a confined process may take. Not built with the address sanitizer, which reserves more than
// any bound.
#include "loader/process/confined_process.h"
#include "loader/process/message.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <chrono>
#include <string>

namespace auger {
namespace {

// How many megabytes could be had.
void take_memory(int socket) {
    receive_message(socket, 16);
    size_t megabytes = 0;
    while (megabytes < 1000 && mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        megabytes++;
    send_message(socket, std::to_string(megabytes));
}

TEST(ConfinedProcess, MemoryIsBounded) {
    ConfinedLimits limits;
    limits.memory = size_t{400} << 20;
    const auto processes = ConfinedProcesses::start("confined", take_memory, limits);
    ASSERT_TRUE(processes);
    const auto process = (*processes)->make();
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
