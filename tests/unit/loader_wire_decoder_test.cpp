// SPDX-License-Identifier: GPL-3.0-or-later
// A record of the event ring is believed only as far as it reaches.
#include "loader/stream/wire_decoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace auger {
namespace {

class Sample : public testing::Test {
  protected:
    // A record of a sample with two user frames, a copy of `copied` bytes that says to have
    // `claimed`, and `size` bytes in all.
    std::optional<WireView> decode(uint32_t copied, uint32_t claimed, size_t size) {
        words_.assign((size + 7) / 8 + 100, 0);
        wire_sample head{};
        head.event.kind = WIRE_SAMPLE;
        head.event.size = static_cast<uint32_t>(size);
        head.user_frames = 2;
        wire_stack_copy copy{};
        copy.sp = 77;
        copy.bytes = claimed;
        auto* at = reinterpret_cast<std::byte*>(words_.data());
        std::memcpy(at, &head, sizeof(head));
        std::memset(at + sizeof(head), 1, 16);
        std::memcpy(at + sizeof(head) + 16, &copy, sizeof(copy));
        std::memset(at + frames_and_copy, 9, copied);
        return decode_wire({at, size});
    }

    static constexpr size_t without_copy = sizeof(wire_sample) + 16;
    static constexpr size_t frames_and_copy = without_copy + sizeof(wire_stack_copy);

  private:
    std::vector<uint64_t> words_;
};

TEST_F(Sample, HasACopyOfItsStackWhenThereIsOne) {
    const auto view = decode(64, 64, frames_and_copy + 64);
    ASSERT_TRUE(view);
    const auto& sample = std::get<WireSampleView>(*view);
    ASSERT_NE(sample.copy, nullptr);
    EXPECT_EQ(sample.copy->sp, 77u);
    ASSERT_EQ(sample.copied.size(), 64u);
    EXPECT_EQ(sample.copied.front(), std::byte(9));
    EXPECT_EQ(sample.copied.back(), std::byte(9));
}

TEST_F(Sample, HasNoneWhenItEndsWithItsFrames) {
    const auto view = decode(0, 0, without_copy);
    ASSERT_TRUE(view);
    EXPECT_EQ(std::get<WireSampleView>(*view).copy, nullptr);
    EXPECT_EQ(std::get<WireSampleView>(*view).user_frames.size(), 2u);
}

TEST_F(Sample, IsRefusedWhenItClaimsMoreThanThereIs) {
    EXPECT_FALSE(decode(64, 65, frames_and_copy + 64));
    EXPECT_FALSE(decode(0, ~0u, frames_and_copy));
    for (size_t size = 0; size < without_copy; size++)
        EXPECT_FALSE(decode(0, 0, size)) << size;
}

// Of an explained call: as many parts as it says, if they are there.
TEST(CallParts, AreAsManyAsTheRecordHolds) {
    constexpr size_t head = offsetof(wire_call_parts, part);
    wire_call_parts call{};
    call.end.event.kind = WIRE_CALL_PARTS;
    call.every = 1;
    call.parts = 2;
    const auto decode = [&](size_t size) {
        call.end.event.size = static_cast<uint32_t>(size);
        return decode_wire({reinterpret_cast<const std::byte*>(&call), size});
    };
    const size_t two = head + 2 * sizeof(wire_call_part);
    const auto view = decode(two);
    ASSERT_TRUE(view);
    EXPECT_EQ(std::get<WireCallPartsView>(*view).parts.size(), 2u);
    EXPECT_FALSE(decode(two - 1));
    EXPECT_FALSE(decode(head - 8));
    call.parts = WIRE_MAX_PARTS + 1;
    EXPECT_FALSE(decode(sizeof(call)));
    call.parts = 0;
    EXPECT_TRUE(decode(head));
    call.every = 0; // it would stand for nothing
    EXPECT_FALSE(decode(head));
}

TEST(SlowCall, HasTheFramesThatFollowIt) {
    struct {
        wire_slow_call head;
        uint64_t frames[3];
    } record{};
    record.head.end.event.kind = WIRE_SLOW_CALL;
    record.frames[0] = 1;
    record.frames[2] = 3;
    const auto decode = [&](uint32_t frames, size_t size) {
        record.head.user_frames = frames;
        record.head.end.event.size = static_cast<uint32_t>(size);
        return decode_wire({reinterpret_cast<const std::byte*>(&record), size});
    };
    for (const uint32_t frames : {0u, 2u, 3u}) {
        const auto view = decode(frames, sizeof(wire_slow_call) + 8 * frames);
        ASSERT_TRUE(view);
        EXPECT_EQ(std::get<WireSlowCallView>(*view).user_frames.size(), frames);
    }
    const auto whole = decode(3, sizeof(record));
    EXPECT_EQ(std::get<WireSlowCallView>(*whole).user_frames.back(), 3u);
    EXPECT_FALSE(decode(3, sizeof(record) - 8));
    EXPECT_FALSE(decode(UINT32_MAX, sizeof(record)));
    EXPECT_FALSE(decode(0, sizeof(wire_slow_call) - 8));
}

TEST(TaskSend, IsOfAsManyExchangesAsThereCanBe) {
    wire_task_send send{};
    send.event.kind = WIRE_TASK_SEND;
    send.event.size = sizeof(send);
    const auto decode = [&](uint32_t exchanges, size_t size) {
        send.exchanges = exchanges;
        send.event.size = static_cast<uint32_t>(size);
        return decode_wire({reinterpret_cast<const std::byte*>(&send), size});
    };
    const auto view = decode(WIRE_MAX_EXCHANGES, sizeof(send));
    ASSERT_TRUE(view);
    EXPECT_EQ(std::get<WireTaskSendView>(*view).exchanges.size(), size_t{WIRE_MAX_EXCHANGES});
    EXPECT_FALSE(decode(WIRE_MAX_EXCHANGES + 1, sizeof(send)));
    EXPECT_FALSE(decode(0, sizeof(send) - 1));
}

} // namespace
} // namespace auger
