// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics as messages: what the text says, and native histograms.
#include "tests/unit/metrics_reader.h"
#include "tests/unit/views_exports_fixture.h"
#include "views/exports/prometheus_protobuf.h"

#include <protozero/pbf_reader.hpp>

#include <cmath>
#include <map>
#include <random>

namespace auger {
namespace {

// A histogram as messages have it; `native` by the index of its buckets.
struct ReadHistogram {
    uint64_t count = 0, zero = 0;
    double sum = 0;
    std::map<double, double> buckets;
    std::map<int32_t, int64_t> native;
    int32_t schema = 0;
};

ReadHistogram read_histogram(protozero::pbf_reader reader) {
    ReadHistogram read;
    std::vector<int32_t> indexes;
    std::vector<int64_t> deltas;
    int32_t end = 0;
    while (reader.next()) {
        if (reader.tag() == 1) {
            read.count = reader.get_uint64();
        } else if (reader.tag() == 2) {
            read.sum = reader.get_double();
        } else if (reader.tag() == 3) {
            uint64_t count = 0;
            double bound = 0;
            for (protozero::pbf_reader bucket = reader.get_message(); bucket.next();)
                bucket.tag() == 1 ? void(count = bucket.get_uint64())
                                  : void(bound = bucket.get_double());
            read.buckets[bound] = static_cast<double>(count);
        } else if (reader.tag() == 5) {
            read.schema = reader.get_sint32();
        } else if (reader.tag() == 7) {
            read.zero = reader.get_uint64();
        } else if (reader.tag() == 12) {
            for (protozero::pbf_reader span = reader.get_message(); span.next();)
                if (span.tag() == 1)
                    end += span.get_sint32();
                else
                    for (uint32_t length = span.get_uint32(); length > 0; length--)
                        indexes.push_back(end++);
        } else if (reader.tag() == 13) {
            for (const int64_t delta : reader.get_packed_sint64())
                deltas.push_back(delta);
        } else {
            reader.skip();
        }
    }
    EXPECT_EQ(indexes.size(), deltas.size());
    int64_t last = 0;
    for (size_t i = 0; i < indexes.size(); i++)
        read.native[indexes[i]] = last += deltas[i];
    return read;
}

struct ReadMessages {
    Values values; // as lines of text have them
    std::map<std::string, ReadHistogram> histograms;
    std::map<std::string, int32_t> types;
};

ReadMessages messages(const Model& model) {
    StringSink sink;
    EXPECT_TRUE(write_prometheus_protobuf(model, {}, sink));
    ReadMessages read;
    const char *at = sink.text.data(), *end = at + sink.text.size();
    while (at != end) {
        const uint64_t length = protozero::decode_varint(&at, end);
        EXPECT_LE(length, static_cast<uint64_t>(end - at));
        protozero::pbf_reader family(at, length);
        at += length;
        std::string name;
        while (family.next()) {
            if (family.tag() == 1)
                name = family.get_string();
            else if (family.tag() == 3)
                EXPECT_TRUE(read.types.try_emplace(name, family.get_enum()).second) << name;
            else if (family.tag() == 4) {
                std::string labels;
                for (protozero::pbf_reader metric = family.get_message(); metric.next();) {
                    if (metric.tag() == 1) {
                        protozero::pbf_reader pair = metric.get_message();
                        std::string text[2];
                        while (pair.next()) {
                            std::string& part = text[pair.tag() - 1];
                            part = pair.get_string();
                        }
                        labels += (labels.empty() ? "" : ",") + text[0] + "=\"" + text[1] + '"';
                    } else if (metric.tag() == 7) {
                        read.histograms[labels] = read_histogram(metric.get_message());
                    } else {
                        EXPECT_EQ(metric.tag(), read.types[name] == 0 ? 3u : 2u) << name;
                        protozero::pbf_reader number = metric.get_message();
                        EXPECT_TRUE(number.next(1));
                        read.values[name + (labels.empty() ? "" : "{" + labels + "}")] =
                            number.get_double();
                    }
                }
            } else {
                family.skip();
            }
        }
    }
    return read;
}

TEST_F(Exports, PrometheusMessagesSayWhatTheTextSays) {
    const ReadMessages read = messages(model);
    Values text = metrics(model);
    ASSERT_EQ(read.histograms.size(), 1u);
    const auto& [labels, histogram] = *read.histograms.begin();
    EXPECT_EQ(histogram.buckets, buckets_of(text, labels));
    EXPECT_EQ(histogram.count, text.at("auger_call_duration_seconds_count{" + labels + "}"));
    EXPECT_EQ(histogram.sum, text.at("auger_call_duration_seconds_sum{" + labels + "}"));
    std::erase_if(text, [](const auto& value) {
        return value.first.starts_with("auger_call_duration_seconds_");
    });
    EXPECT_EQ(read.values, text);
    EXPECT_EQ(read.types.at("auger_call_duration_seconds"), 4);
    EXPECT_EQ(read.types.at("auger_calls_entered_total"), 0);
    EXPECT_EQ(read.types.at("auger_samples_kept"), 1);
}

// Every duration is in its own native bucket, or in the next one and less than 1 % away from it.
TEST(MetricMessages, NativeHistogramsHoldEachDurationWhereItIs) {
    Model model;
    SyntheticStream stream{model};
    const SpecId handle = stream.probe(1, "handle"), never = stream.probe(2, "never");
    stream.stats(ms, never, {});
    std::mt19937 random(13);
    const auto total = [&] {
        ReadHistogram read = messages(model).histograms.at(R"(probe="handle",function="handle")");
        EXPECT_EQ(read.schema, native_schema);
        return read;
    };
    std::map<int32_t, int64_t> before;
    uint64_t zeros = 0, time = ms, count = 0;
    for (int i = 0; i < 400; i++) {
        const uint64_t duration = i % 50 == 0 ? 0 : random() >> random() % 31;
        stream.stats(time += ms, handle, {duration});
        zeros += duration == 0;
        const ReadHistogram read = total();
        ASSERT_EQ(read.count, ++count);
        ASSERT_EQ(read.zero, zeros);
        int64_t all = static_cast<int64_t>(read.zero);
        for (const auto& [index, number] : read.native) {
            all += number;
            if (number == before[index])
                continue;
            ASSERT_EQ(number, before[index] + 1) << duration;
            const double seconds = static_cast<double>(duration) / 1e9;
            EXPECT_GT(seconds * 1.01, std::exp2((index - 1) / 8.0));
            EXPECT_LE(seconds * 0.99, std::exp2(index / 8.0));
            before[index] = number;
        }
        ASSERT_EQ(all, static_cast<int64_t>(read.count));
    }
    const ReadHistogram empty = messages(model).histograms.at(R"(probe="never",function="never")");
    EXPECT_EQ(empty.count, 0u);
    EXPECT_TRUE(empty.native.empty());
}

} // namespace
} // namespace auger
