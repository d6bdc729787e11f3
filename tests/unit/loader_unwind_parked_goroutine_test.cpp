// SPDX-License-Identifier: GPL-3.0-or-later
// What Go's runtime has left of a goroutine that no thread runs, right or wrong.
#include "loader/unwind/parked_goroutine.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace auger {
namespace {

constexpr uint64_t g = 0xc000000000, low = 0xc000100000, high = 0xc000102000;

// As of Go 1.19.
constexpr wire_go_runtime runtime_of_go() {
    wire_go_runtime runtime = {};
    runtime.g_m = 48;
    runtime.m_curg = 192;
    runtime.g_saved_sp = 56;
    return runtime;
}

struct Words final : Memory {
    std::map<uint64_t, uint64_t> words;
    std::optional<uint64_t> word(uint64_t address) override {
        const auto found = words.find(address);
        return found == words.end() ? std::nullopt : std::optional(found->second);
    }
};

class ParkedGoroutines : public testing::Test {
  protected:
    ParkedGoroutines() {
        memory.words = {
            {g, low}, {g + 8, high}, {g + 48, 0}, {g + 56, high - 0x80}, {g + 64, 0x401234}};
    }
    ParkedGoroutine read() { return read_parked_goroutine(memory, runtime_of_go(), g); }
    Words memory;
};

TEST_F(ParkedGoroutines, GoOnWhereTheRuntimeSays) {
    const ParkedGoroutine goroutine = read();
    EXPECT_EQ(goroutine.state, ParkedGoroutine::State::parked);
    EXPECT_EQ(goroutine.sp, high - 0x80);
    EXPECT_EQ(goroutine.ip, 0x401234u);
    EXPECT_EQ(goroutine, read());
    // It has been copied to another stack, or has gone on and is parked again.
    memory.words[g + 8] = high + 0x1000;
    EXPECT_NE(read(), goroutine);
}

TEST_F(ParkedGoroutines, AreNoneWhileAThreadHasThem) {
    memory.words[g + 48] = 0xc000200000;
    EXPECT_EQ(read().state, ParkedGoroutine::State::on_thread);
    EXPECT_EQ(read().ip, 0u);
}

TEST_F(ParkedGoroutines, HaveTheirStackPointerInTheirStack) {
    for (const uint64_t sp : {uint64_t{0}, low - 8, high, ~uint64_t{0}}) {
        memory.words[g + 56] = sp;
        EXPECT_EQ(read().state, ParkedGoroutine::State::unreadable) << sp;
    }
    memory.words[g + 56] = low;
    EXPECT_EQ(read().state, ParkedGoroutine::State::parked);
}

TEST_F(ParkedGoroutines, AreReadWholeOrNotAtAll) {
    const auto all = memory.words;
    for (const auto& [address, word] : all) {
        memory.words = all;
        memory.words.erase(address);
        EXPECT_EQ(read(), ParkedGoroutine{}) << address - g;
    }
    // Addresses that wrap around are read like any other.
    EXPECT_EQ(read_parked_goroutine(memory, runtime_of_go(), ~uint64_t{0}).state,
              ParkedGoroutine::State::unreadable);
}

} // namespace
} // namespace auger
