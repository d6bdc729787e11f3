// SPDX-License-Identifier: GPL-3.0-or-later
// Which trace samples belong to, and that exports say so.
#include "tests/support/durations.h"
#include "tests/support/gunzip.h"
#include "tests/support/otlp_reader.h"
#include "tests/unit/synthetic_stream.h"
#include "views/exports/export.h"
#include "views/exports/trace_links.h"

#include <gmock/gmock.h>
#include <protozero/pbf_reader.hpp>

#include <algorithm>

namespace auger {
namespace {

using testing::UnorderedElementsAre;

const std::string one = "4bf92f3577b34da6a3ce929d0e0e4736", two = std::string(31, '0') + "2",
                  one_span = "00f067aa0ba902b7", two_span = "00f067aa0ba902b8";

class TraceLinksTest : public testing::Test {
  protected:
    // A slow call of handle at a time, with samples in it and in a call inside it.
    CallKey slow_call(uint64_t start_ns, std::vector<CallValue> values) {
        const CallKey call = stream.call(handle, start_ns),
                      inner = stream.call(fetch, start_ns + ms);
        sample(start_ns, {call});
        sample(start_ns + ms, {call, inner});
        stream.end(101, inner, ms);
        stream.end(101, call, 3 * ms);
        SlowCallEvent slow;
        slow.end.call = call;
        slow.end.thread = stream.thread(101);
        slow.end.time_ns = start_ns + 3 * ms;
        slow.end.duration_ns = 3 * ms;
        slow.threshold_ns = ms;
        slow.stack = stream.stack({"main", "handle"});
        slow.values = std::move(values);
        model.on_slow_call(slow);
        return call;
    }
    void sample(uint64_t time_ns, const std::vector<CallKey>& calls) {
        stream.sample(time_ns, 101, stream.stack({"main", "handle"}), calls, ms);
    }
    // Of each sample, "trace span" or "none".
    std::vector<std::string> links() const {
        const TraceLinks traces(model);
        std::vector<std::string> all;
        for (size_t i = 0; i < model.samples().size(); i++) {
            const uint32_t number = traces.of(model.samples().calls()[i]);
            all.push_back(number ? traces[number].trace + " " + traces[number].span : "none");
        }
        return all;
    }

    Model model;
    SyntheticStream stream{model};
    SpecId handle = stream.probe(1, "handle"), fetch = stream.probe(2, "fetch");
};

TEST_F(TraceLinksTest, AreOfTheSlowCallsThatShowThem) {
    slow_call(10 * ms, {{"len", "12"}, {"trace", one}, {"span_id", one_span}});
    slow_call(20 * ms, {{"trace", two}});
    slow_call(30 * ms, {{"trace", "none"}, {"span_id", "none"}});
    sample(40 * ms, {});
    EXPECT_EQ(links(), (std::vector<std::string>{one + " " + one_span, one + " " + one_span,
                                                 two + " ", two + " ", "none", "none", "none"}));
}

// The innermost call that tells it.
TEST_F(TraceLinksTest, AreOfTheCallNearest) {
    const CallKey outer = stream.call(fetch, 5 * ms), call = stream.call(handle, 10 * ms);
    sample(6 * ms, {outer});
    sample(11 * ms, {outer, call});
    stream.end(101, call, 2 * ms);
    stream.end(101, outer, 20 * ms);
    for (const auto& [key, trace] : {std::pair(call, one), std::pair(outer, two)}) {
        SlowCallEvent slow;
        slow.end.call = key;
        slow.end.thread = stream.thread(101);
        slow.end.time_ns = 30 * ms;
        slow.end.duration_ns = 2 * ms;
        slow.stack = stream.stack({"main", "handle"});
        slow.values = {{"trace", trace}};
        if (key == call)
            slow.enclosing = {&outer, 1};
        model.on_slow_call(slow);
    }
    EXPECT_EQ(links(), (std::vector<std::string>{two + " ", one + " "}));
}

// Whatever else is called so, and what could not be read.
TEST_F(TraceLinksTest, WhatIsNoIdIsNone) {
    for (const std::string& text :
         {std::string("17"), std::string(32, '0'), std::string(31, 'a') + "g", one + "0",
          "4BF92F3577B34DA6A3CE929D0E0E4736" + std::string()})
        slow_call(10 * ms, {{"trace", text}});
    slow_call(10 * ms, {{"trace", one, false}});
    slow_call(10 * ms, {{"trace", one}, {"span_id", "xyz"}});
    const auto all = links();
    EXPECT_EQ(std::ranges::count(all, "none"), 12);
    EXPECT_EQ(std::ranges::count(all, one + " "), 2);
}

TEST_F(TraceLinksTest, AreTheLabelsOfASplitByThem) {
    SplitInfo split;
    split.active = true;
    split.probe = ProbeId{1};
    split.label = "trace";
    split.label_since_ns = 5 * ms;
    model.on_split(split);
    const LabelId label = stream.label(one), none = stream.label("none");
    const CallKey before = stream.call(handle, 1 * ms), call = stream.call(handle, 10 * ms),
                  inner = stream.call(fetch, 11 * ms), other = stream.call(handle, 20 * ms);
    sample(2 * ms, {before});
    sample(11 * ms, {call, inner});
    sample(21 * ms, {other});
    stream.end(101, before, 2 * ms, false, 0, label);
    stream.end(101, inner, ms);
    EXPECT_EQ(links(), (std::vector<std::string>{"none", "none", "none"})) << "it is open";
    stream.end(101, call, 3 * ms, false, 0, label);
    stream.end(101, other, 3 * ms, false, 0, none);
    EXPECT_EQ(links(), (std::vector<std::string>{"none", one + " ", "none"}));
    split.label = "arg0";
    model.on_split(split);
    EXPECT_EQ(links(), (std::vector<std::string>{"none", "none", "none"}));
}

TEST_F(TraceLinksTest, OtlpLinksSamplesWhoseSpanIsKnown) {
    slow_call(10 * ms, {{"trace", one}, {"span_id", one_span}});
    slow_call(20 * ms, {{"trace", one}, {"span_id", two_span}});
    slow_call(30 * ms, {{"trace", two}});
    StringSink sink;
    ASSERT_TRUE(find_export_format("otlp")->write(model, {}, sink));
    const test::OtlpReader read(sink.text);
    std::vector<std::string> found;
    for (const test::ReadSample& sample : read.resources.at(0).profile("samples/count").samples) {
        EXPECT_EQ(sample.trace.size(), sample.span.empty() ? 0u : 16u);
        found.push_back(sample.span + " " + std::to_string(sample.value));
        EXPECT_EQ(sample.trace, sample.span.empty() ? "" : id_bytes(one));
    }
    // A sample in each function's call is one of its own.
    EXPECT_THAT(found, UnorderedElementsAre(id_bytes(one_span) + " 1", id_bytes(one_span) + " 1",
                                            id_bytes(two_span) + " 1", id_bytes(two_span) + " 1",
                                            " 1", " 1"));
    EXPECT_EQ(id_bytes(one_span), std::string("\x00\xf0\x67\xaa\x0b\xa9\x02\xb7", 8));
}

TEST_F(TraceLinksTest, PprofLabelsSamplesWhereThreadsAreToldApart) {
    slow_call(10 * ms, {{"trace", one}, {"span_id", one_span}});
    for (const bool threads : {true, false}) {
        ExportQuery query;
        query.threads = threads;
        StringSink sink;
        ASSERT_TRUE(find_export_format("pprof")->write(model, query, sink));
        const std::string bytes = test::gunzip(sink.text);
        std::vector<std::string> strings;
        for (protozero::pbf_reader reader(bytes); reader.next(6);)
            strings.push_back(reader.get_string());
        for (const std::string& text :
             {std::string("trace_id"), one, std::string("span_id"), one_span})
            EXPECT_EQ(std::ranges::count(strings, text), threads ? 1 : 0) << text;
    }
}

} // namespace
} // namespace auger
