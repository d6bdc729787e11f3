// SPDX-License-Identifier: GPL-3.0-or-later
// Spans in views: their account, and where their time went.
#include "loader/stats/histogram.h"
#include "tests/unit/synthetic_stream.h"
#include "views/json/json_views.h"
#include "views/model/account.h"
#include "views/model/classifier.h"
#include "views/text/views.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

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
    EXPECT_THAT(text, HasSubstr("of their time: cpu 15.0 %, blocked 20.0 %, runnable 5.0 %, "
                                "served 10.0 %, parked 40.0 %, queued 10.0 %"));
    EXPECT_TRUE(make_account(model).calls_add_up);
    EXPECT_THAT(to_text(status_view(model, options, {})),
                HasSubstr("request: 12 begins = 4 ended + 3 unended + 2 expired + 2 open + 1 "
                          "dropped; 5 stray ends"));
    const auto status = nlohmann::json::parse(status_json(model, {}));
    EXPECT_EQ(status["spans"][0], (nlohmann::json{{"probe", "request"},
                                                  {"begins", 12},
                                                  {"ended", 4},
                                                  {"unended", 3},
                                                  {"expired", 2},
                                                  {"open", 2},
                                                  {"dropped", 1},
                                                  {"ambiguous", 0},
                                                  {"stray_ends", 5},
                                                  {"adds_up", true}}));
    // Beside those 40 ms, 60 of a task's whose runtime's switches are not watched.
    StatsEvent of_task;
    of_task.time_ns = event.time_ns;
    of_task.spec = event.spec;
    of_task.entries = of_task.returns = 1;
    of_task.sum_ns = of_task.min_ns = of_task.max_ns = 60 * ms;
    of_task.buckets = {{bucket_of(60 * ms), 1}};
    model.on_stats(of_task);
    EXPECT_THAT(to_text(*hist_view(model, options, ProbeId{1})),
                HasSubstr("of their time: cpu 6.0 %, blocked 8.0 %, runnable 2.0 %, served 4.0 %, "
                          "served or parked 60.0 %, parked 16.0 %, queued\n4.0 %"));
    // What a window covers is summed up likewise.
    const CallStatistics late =
        model.probe_statistics(ProbeId{1}, {Window::Kind::last, 10 * ms, 5000 * ms});
    EXPECT_EQ(late.expired, 0);
    EXPECT_EQ(late.span.attached, 0);
}

// A slow call says of parked time only what is known: nothing of a task's whose runtime's switches
// are not watched.
TEST(CallsJson, SaysWhereParkedTimeIsNotKnown) {
    constexpr uint64_t ms = 1'000'000;
    Model model;
    SyntheticStream stream(model);
    const SpecId spec = stream.probe(1, "request");
    ProbeInfo info = *model.find_probe(ProbeId{1});
    info.span = "from f key arg0 to g key arg0";
    model.on_probe(info);
    StatsEvent ended;
    ended.time_ns = 1000 * ms;
    ended.spec = spec;
    ended.entries = ended.returns = 1;
    ended.sum_ns = ended.min_ns = ended.max_ns = 10 * ms;
    ended.buckets = {{bucket_of(10 * ms), 1}};
    ended.span.attached_ns = 10 * ms;
    model.on_stats(ended);
    SlowCallEvent slow;
    slow.end.time_ns = 1000 * ms;
    slow.end.thread = stream.thread(1);
    slow.end.duration_ns = 10 * ms;
    slow.end.call = stream.call(spec, 990 * ms);
    model.on_slow_call(slow);
    const auto last_call = [&] {
        return nlohmann::json::parse(calls_json(model, {}, ProbeId{1})->back());
    };
    EXPECT_EQ(last_call()["parked"], 0) << "a thread worked for it all the time";

    ended.span.attached_ns = 0;
    model.on_stats(ended);
    EXPECT_TRUE(last_call()["parked"].is_null());
    EXPECT_TRUE(last_call()["queued"].is_null());
    const auto text = [&] { return to_text(*calls_view(model, {}, ProbeId{1})); };
    EXPECT_THAT(text(), HasSubstr("served or parked 10.0 ms, queued 0 ns\n"));

    // That it was queued before a goroutine took it up says nothing of what that did.
    slow.end.queued_ns = ms;
    model.on_slow_call(slow);
    EXPECT_TRUE(last_call()["parked"].is_null());
    EXPECT_EQ(last_call()["queued"], ms);
    EXPECT_THAT(text(), HasSubstr("served or parked 9.00 ms, queued 1.00 ms\n"));
    slow.end.queued_ns = 0;

    slow.end.parked_ns = 4 * ms;
    model.on_slow_call(slow);
    EXPECT_EQ(last_call()["parked"], 4 * ms);
    EXPECT_EQ(last_call()["queued"], 0);
}

// A place that is traced has no duration, in no view.
TEST(CallsView, ShowsHitsWithoutADuration) {
    constexpr uint64_t ms = 1'000'000;
    Model model;
    SyntheticStream stream(model);
    const SpecId spec = stream.probe(1, "main.cc:12");
    ProbeInfo info = *model.find_probe(ProbeId{1});
    info.slow.kind = Threshold::Kind::fixed;
    info.conditions.slow_if = "arg0 > 3";
    model.on_probe(info);
    SlowCallEvent hit;
    hit.end.time_ns = 1000 * ms;
    hit.end.thread = stream.thread(1);
    hit.end.call = stream.call(spec, 1000 * ms);
    hit.values = {{"arg0", "4", true}};
    model.on_slow_call(hit);
    ViewOptions options;
    options.width = 100;
    std::string text = to_text(*calls_view(model, options));
    EXPECT_THAT(text, HasSubstr("\n1 hit\n"));
    EXPECT_THAT(text, HasSubstr("arg0=4"));
    EXPECT_THAT(text, HasSubstr("+0.000 s            main.cc:12  service 1\n")) << "no duration";
    EXPECT_THAT(to_text(probes_view(model, options)), HasSubstr("trace if arg0 > 3"));
    EXPECT_THAT(to_text(status_view(model, options, {})),
                HasSubstr("trace main.cc:12 if arg0 > 3"));
    const auto line = nlohmann::json::parse(calls_json(model, {}, ProbeId{1})->front());
    EXPECT_TRUE(line["duration"].is_null());
    EXPECT_EQ(line["threshold"], 0);
    // Beside calls that were traced one by one, it is one of many calls.
    hit.end.duration_ns = ms;
    model.on_slow_call(hit);
    EXPECT_THAT(to_text(*calls_view(model, options)), HasSubstr("\n2 calls\n"));
}

// Of exchanges what is ambiguous is in the account, and why.
TEST(HistView, SaysWhyExchangesAreAmbiguous) {
    constexpr uint64_t ms = 1'000'000;
    Model model;
    SyntheticStream stream(model);
    const SpecId spec = stream.probe(1, "http");
    ProbeInfo info = *model.find_probe(ProbeId{1});
    info.span = "exchanges port 80";
    model.on_probe(info);
    StatsEvent event;
    event.time_ns = 1000 * ms;
    event.spec = spec;
    event.entries = 20;
    event.returns = 6;
    event.unwound = 3;
    event.open = 1;
    event.sum_ns = 60 * ms;
    event.min_ns = event.max_ns = 10 * ms;
    event.buckets = {{bucket_of(10 * ms), 6}};
    event.filtered = 10;
    event.span.ambiguous = {.early = 4, .unasked = 3, .tls = 2, .http2 = 1};
    model.on_stats(event);
    ViewOptions options;
    options.width = 160;
    const auto canvas = hist_view(model, options, ProbeId{1});
    ASSERT_TRUE(canvas);
    const std::string text = to_text(*canvas);
    EXPECT_THAT(text, HasSubstr("20 exchanges: 6 ended, 3 unanswered, 0 expired, 1 open now, 0 "
                                "dropped, 10 ambiguous; 0 stray ends"));
    EXPECT_THAT(text, HasSubstr("ambiguous: 4 asked before the answer (pipelines), 3 on "
                                "connections that send unasked, 2 in TLS, 1 in HTTP/2"));
    EXPECT_TRUE(make_account(model).calls_add_up);
}

// An exchange ends with its last send, which is told later: what was sampled meanwhile is in none.
TEST(Classifier, LeavesOutWhatCameBehindTheLastSend) {
    constexpr uint64_t ms = 1'000'000;
    Model model;
    SyntheticStream stream(model);
    const SpecId spec = stream.probe(1, "http");
    const auto classes = [&] {
        const Classifier classify(model);
        const SampleStore& samples = model.samples();
        std::vector<CallClass> all;
        for (size_t i = 0; i < samples.size(); i++)
            all.push_back(classify(samples.calls()[i], samples.times()[i]));
        return all;
    };
    using enum CallClass;
    ProbeInfo info = *model.find_probe(ProbeId{1});
    stream.split(1, SyntheticStream::fixed(100 * ms));
    CallKey call = stream.call(spec, 1000 * ms);
    call.sequence |= CallKey::no_thread_bit;
    const StackId stack = stream.stack({"main", "work"});
    for (const uint64_t time : {1010, 1020, 1021, 1500})
        stream.sample(time * ms, 1, stack, {call});
    // Its end may be told later than it is by now slow.
    info.span = "exchanges port 80";
    model.on_probe(info);
    model.on_time(1600 * ms);
    EXPECT_EQ(classes(), (std::vector{open, open, open, open}));
    model.on_time(1701 * ms);
    EXPECT_EQ(classes(), (std::vector{slow, slow, slow, slow}));
    info.span = "from f to g";
    model.on_probe(info);
    EXPECT_EQ(classes(), (std::vector{slow, slow, slow, slow}));
    const auto end = [&](bool is_exchange) {
        info.span = is_exchange ? "exchanges" : "from f to g";
        model.on_probe(info);
        CallEndEvent event;
        event.time_ns = 1020 * ms;
        event.duration_ns = 20 * ms;
        event.thread = stream.thread(1);
        event.call = call;
        event.samples = 4;
        model.on_call_end(event);
    };
    end(true);
    EXPECT_EQ(classes(), (std::vector{fast, fast, outside, outside}));
    stream.split(1, SyntheticStream::fixed(10 * ms));
    EXPECT_EQ(classes(), (std::vector{slow, slow, outside, outside}));
    ClassFilter range;
    range.range = DurationRange{10 * ms, 50 * ms};
    const Classifier classify(model);
    const ClassTest test(model, classify, range);
    const SampleStore& samples = model.samples();
    EXPECT_TRUE(test(samples.calls()[1], 1020 * ms, samples.threads()[1], samples.stacks()[1]));
    EXPECT_FALSE(test(samples.calls()[2], 1021 * ms, samples.threads()[2], samples.stacks()[2]));
    // Of others an end is known when it comes.
    end(false);
    EXPECT_EQ(classes(), (std::vector{slow, slow, slow, slow}));
}

// A Go function's calls, of which half of the time was watched.
TEST(HistView, SaysWhatGoroutinesWereParkedFor) {
    constexpr uint64_t ms = 1'000'000;
    Model model;
    SyntheticStream stream(model);
    StatsEvent event;
    event.time_ns = 1000 * ms;
    event.spec = stream.probe(1, "main.handle");
    event.entries = event.returns = 4;
    event.sum_ns = 80 * ms;
    event.min_ns = event.max_ns = 20 * ms;
    event.buckets = {{bucket_of(20 * ms), 4}};
    event.span = {.attached_ns = 10 * ms,
                  .queued_ns = 2 * ms,
                  .parked_ns = 28 * ms,
                  .watched_ns = 10 * ms,
                  .blocked_ns = 4 * ms,
                  .runnable_ns = 2 * ms};
    event.span.parked_for_ns[2] = 8 * ms;
    event.span.parked_for_ns[11] = 20 * ms;
    model.on_stats(event);
    ViewOptions options;
    options.width = 160;
    auto canvas = hist_view(model, options, ProbeId{1});
    ASSERT_TRUE(canvas);
    EXPECT_THAT(to_text(*canvas),
                HasSubstr("50.0 % of their time was watched\nof that: cpu 10.0 %, blocked 10.0 %, "
                          "runnable 5.0 %, parked 70.0 %, queued 5.0 %\nparked for: sleep 50.0 %, "
                          "chan receive 20.0 %\n"));
    event.sum_ns = 0; // then all of it
    event.span = {};
    event.span.parked_ns = 40 * ms;
    event.span.parked_for_ns[11] = 40 * ms;
    model.on_stats(event);
    canvas = hist_view(model, options, ProbeId{1});
    EXPECT_THAT(to_text(*canvas), HasSubstr("of their time: cpu"));
}

} // namespace
} // namespace auger
