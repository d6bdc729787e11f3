// SPDX-License-Identifier: GPL-3.0-or-later
// CPU time in calls of functions.
#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/model/time_in_functions.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

TEST(TimeInFunctions, IsOfEachCallThatIsOnTheStack) {
    Model model;
    SyntheticStream stream{model};
    auto sample = [&, now = uint64_t{0}](const std::vector<std::string>& path,
                                         uint64_t weight_ms) mutable {
        stream.sample(++now * ms, 1, stream.stack(path), {}, weight_ms * ms);
    };
    sample({"main", "f", "g"}, 3);
    sample({"main", "f", "f", "f"}, 5); // three calls of f, each of which takes as long
    sample({"main", "h"}, 7);
    const std::vector<std::string> names = {"f", "g", "none", "f"};
    const TimeInFunctions time = time_in_functions(model, {}, names);
    EXPECT_EQ(time.cpu_ns, 15 * ms);
    EXPECT_EQ(time.ns, (std::vector<double>{18 * ms, 3 * ms, 0, 18 * ms}));
}

TEST(TimeInFunctions, AWaitIsNone) {
    Model model;
    SyntheticStream stream{model};
    stream.sample(ms, 1, stream.stack({"main", "f"}), {}, 2 * ms);
    stream.sample(2 * ms, 1, stream.stack({"main", "f"}), {}, 9 * ms, SampleKind::blocked);
    const std::vector<std::string> names = {"f"};
    const TimeInFunctions time = time_in_functions(model, {}, names);
    EXPECT_EQ(time.cpu_ns, 2 * ms);
    EXPECT_EQ(time.ns.front(), 2 * ms);
}

} // namespace
} // namespace auger
