// SPDX-License-Identifier: GPL-3.0-or-later
// Exchanges of a pool of threads: who has answered waits for work, and that is in no exchange,
// though the wait ends long after, when another thread has taken what the client asked next.
#include "tests/kernel/sampled_server.h"
#include "tests/support/durations.h"

#include <gtest/gtest.h>

namespace auger::test {
namespace {

class PooledExchanges : public ExchangeTest {};

TEST_F(PooledExchanges, HaveNothingOfWaitsForWork) {
    SampledServer server("pooled", {"--calls", "100"}, {}, 8 * ms, true);
    EXPECT_EQ(server.exchanges().returns, server.truth()["served"].get<double>());
    EXPECT_EQ(server.exchanges().entries, server.exchanges().returns);
    auto idle = server.classes_of("wait_for_work"), nap = server.classes_of("nap");
    EXPECT_GE(idle["all"], 100);
    EXPECT_EQ(idle["outside"], idle["all"]) << testing::PrintToString(idle);
    // Each has one sample at least, of all that it waited.
    EXPECT_GE(nap["all"], server.truth()["naps"].get<double>());
    EXPECT_EQ(nap["slow"], nap["all"]) << testing::PrintToString(nap);
}

} // namespace
} // namespace auger::test
