// SPDX-License-Identifier: GPL-3.0-or-later
// However much lies in the ring, who hands it over looks up when a slice of time is over; nothing
// is lost or told twice for that.
#include "loader/stream/record_queue.h"

#include <gtest/gtest.h>

#include <numeric>

namespace auger {
namespace {

class Records : public testing::Test {
  protected:
    void add(size_t size) {
        std::vector<std::byte> bytes(size);
        for (std::byte& byte : bytes)
            byte = std::byte(added_);
        queue.add(bytes);
        added_++;
    }
    // Each record takes a millisecond.
    size_t drain(uint64_t milliseconds) {
        const TimeSlice slice([this] { return now_ms; }, std::chrono::nanoseconds(milliseconds));
        return queue.drain(slice, [this](std::span<const std::byte> record) {
            EXPECT_EQ(reinterpret_cast<uintptr_t>(record.data()) % 8, 0u);
            for (std::byte byte : record)
                EXPECT_EQ(byte, record.front());
            seen.push_back(static_cast<uint8_t>(record.front()));
            now_ms++;
            return true;
        });
    }

    RecordQueue queue;
    uint64_t now_ms = 100;
    std::vector<uint8_t> seen;

  private:
    uint8_t added_ = 0;
};

TEST_F(Records, NoMoreAreHandledThanTheSliceHasTimeFor) {
    for (size_t i = 0; i < 200; i++)
        add(1 + i % 70);
    for (int slices = 1; slices <= 20; slices++) {
        EXPECT_EQ(drain(5), 5u);
        EXPECT_EQ(seen.size(), 5u * slices);
    }
    EXPECT_EQ(drain(0), 1u); // or there would never be an end
    EXPECT_FALSE(queue.empty());
}

TEST_F(Records, AllComeInOrderWhateverTheSlices) {
    for (size_t i = 0; i < 50; i++)
        add(1 + i % 70);
    drain(7);
    for (size_t i = 0; i < 50; i++) // more come before the rest of the first were handed over
        add(1 + i % 70);
    while (!queue.empty())
        drain(3);
    std::vector<uint8_t> all(100);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(seen, all);
    EXPECT_EQ(queue.bytes(), 0u);
    EXPECT_EQ(drain(5), 0u);
}

TEST_F(Records, AnEndlessSliceTakesAll) {
    for (size_t i = 0; i < 50; i++)
        add(9);
    EXPECT_EQ(queue.drain(TimeSlice::endless(), [](auto) { return true; }), 50u);
    EXPECT_TRUE(queue.empty());
}

TEST_F(Records, WhatCannotBeHandledYetStaysTheFirst) {
    for (int i = 0; i < 3; i++)
        add(9);
    size_t asked = 0;
    const auto refuse_second = [&](std::span<const std::byte> record) {
        asked++;
        return record.front() != std::byte(1);
    };
    EXPECT_EQ(queue.drain(TimeSlice::endless(), refuse_second), 1u);
    EXPECT_EQ(queue.drain(TimeSlice::endless(), refuse_second), 0u);
    EXPECT_EQ(asked, 3u);
    EXPECT_EQ(drain(10), 2u);
    EXPECT_EQ(seen, (std::vector<uint8_t>{1, 2}));
}

} // namespace
} // namespace auger
