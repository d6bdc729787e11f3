// SPDX-License-Identifier: GPL-3.0-or-later
// However large each sample is: what is kept of them stays within the memory that there is for it.
#include "tests/unit/filled_store.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

class Store : public FilledStore {};

TEST_F(Store, OfUniqueDeepStacksStaysWithinItsMemory) {
    take(100'000, 110, true);
    EXPECT_LE(most, bytes);
    EXPECT_GE(most, bytes / 2); // nor is it given away
    ASSERT_EQ(said.size(), 1u);
    EXPECT_THAT(said[0], testing::HasSubstr("--store-memory"));
    // The last ones, none of them twice, none of the others.
    const SampleStore& samples = model.samples();
    std::vector<uint64_t> times(samples.times(), samples.times() + samples.size());
    std::ranges::sort(times);
    ASSERT_LT(times.size(), 100'000u);
    for (size_t i = 0; i < times.size(); i++)
        EXPECT_EQ(times[i], time_ns - times.size() + i + 1);
    EXPECT_EQ(model.samples_evicted(), time_ns - times.size());
}

TEST_F(Store, OfFewStacksKeepsAllItsSamples) {
    take(150'000, 20, false);
    EXPECT_EQ(model.samples().size(), 150'000u);
    EXPECT_THAT(said, testing::IsEmpty());
}

} // namespace
} // namespace auger
