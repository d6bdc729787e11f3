// SPDX-License-Identifier: GPL-3.0-or-later
// Spans in views: their account, and where their time went.
#include "loader/stats/histogram.h"
#include "tests/unit/synthetic_stream.h"
#include "views/model/account.h"
#include "views/text/views.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::HasSubstr;

// The account of a span, and where the time of those went that ended: all of it, in parts.
TEST(HistView, SaysWhatBecameOfSpansAndTheirTime) {
    constexpr uint64_t ms = 1'000'000;
    Model model;
    SyntheticStream stream(model);
    const SpecId spec = stream.probe(1, "request");
    ProbeInfo info = *model.find_probe(ProbeId{1});
    info.span = "from f key arg0 to g key arg0";
    model.on_probe(info);
    StatsEvent event;
    event.time_ns = 1000 * ms;
    event.spec = spec;
    event.entries = 12;
    event.returns = 4;
    event.unwound = 3;
    event.open = 2;
    event.dropped = 1;
    event.sum_ns = 40 * ms;
    event.min_ns = event.max_ns = 10 * ms;
    event.buckets = {{bucket_of(10 * ms), 4}};
    event.span = {.expired = 2,
                  .stray = 5,
                  .attached_ns = 20 * ms,
                  .queued_ns = 4 * ms,
                  .parked_ns = 16 * ms,
                  .watched_ns = 16 * ms,
                  .blocked_ns = 8 * ms,
                  .runnable_ns = 2 * ms};
    model.on_stats(event);
    ViewOptions options;
    options.width = 120;
    const auto canvas = hist_view(model, options, ProbeId{1});
    ASSERT_TRUE(canvas);
    const std::string text = to_text(*canvas);
    EXPECT_THAT(text, HasSubstr("from f key arg0 to g key arg0\n"));
    EXPECT_THAT(text, HasSubstr("12 spans: 4 ended, 3 unended, 2 expired, 2 open now, 1 dropped; 5 "
                                "stray ends"));
    EXPECT_THAT(text, HasSubstr("of their time: cpu 15.0 %, blocked 20.0 %, runnable 5.0 %, on "
                                "a thread 10.0 %, parked 40.0 %, queued 10.0 %"));
    EXPECT_TRUE(make_account(model).calls_add_up);
    // What a window covers is summed up likewise.
    const CallStatistics late =
        model.probe_statistics(ProbeId{1}, {Window::Kind::last, 10 * ms, 5000 * ms});
    EXPECT_EQ(late.expired, 0);
    EXPECT_EQ(late.span.attached, 0);
}

} // namespace
} // namespace auger
