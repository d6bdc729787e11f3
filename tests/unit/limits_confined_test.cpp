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

std::string answer_of(const char* service) {
    const auto processes = ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined", {}});
    if (!processes)
        return processes.error().message();
    const auto process = (*processes)->make(service);
    if (!process || !send_message(process->socket(), "?"))
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

// The sanitizer needs more of them, so this is the build in which they are filtered.
TEST(ConfinedProcess, SystemCallsAreFew) {
    EXPECT_EQ(answer_of("try"), "");
}

} // namespace
} // namespace auger
