// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/prometheus_protobuf.h"

#include "views/exports/call_series.h"
#include "views/exports/metrics.h"

#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include <cmath>
#include <iterator>
#include <limits>
#include <map>

namespace auger {

namespace {

// Fields of the messages in metrics.proto.
namespace family {
enum : uint32_t { name = 1, help = 2, type = 3, metric = 4 };
}
namespace metric {
enum : uint32_t { label = 1, gauge = 2, counter = 3, histogram = 7 };
}
namespace label_pair {
enum : uint32_t { name = 1, value = 2 };
}
namespace number {
enum : uint32_t { value = 1 };
}
namespace histogram {
enum : uint32_t {
    sample_count = 1,
    sample_sum = 2,
    bucket = 3,
    schema = 5,
    zero_threshold = 6,
    zero_count = 7,
    positive_span = 12,
    positive_delta = 13,
};
}
namespace bucket {
enum : uint32_t { cumulative_count = 1, upper_bound = 2 };
}
namespace span {
enum : uint32_t { offset = 1, length = 2 };
}
constexpr int32_t type_numbers[] = {0, 1, 4}; // of MetricType

// The native bucket that ends with 2^(index / 8) seconds and begins behind 2^((index - 1) / 8).
int32_t native_index(uint32_t bucket) {
    const double low = static_cast<double>(bucket_low(bucket));
    const double width =
        bucket_high(bucket) == UINT64_MAX ? 1 : static_cast<double>(bucket_high(bucket)) - low;
    const double middle = low + (width - 1) / 2; // of whole nanoseconds
    return static_cast<int32_t>(std::ceil(std::log2(middle / 1e9) * native_buckets_an_octave));
}

class PrometheusProtobuf final : public MetricsWriter {
  public:
    explicit PrometheusProtobuf(ByteSink& out) : out_(out) {}

    void begin(std::string_view name, MetricType type, std::string_view help) override {
        flush();
        type_ = type;
        protozero::pbf_writer put(bytes_);
        put.add_string(family::name, name.data(), name.size());
        put.add_string(family::help, help.data(), help.size());
        put.add_enum(family::type, type_numbers[static_cast<size_t>(type)]);
    }
    void value(const MetricLabels& labels, double one) override {
        add(labels, [&](protozero::pbf_writer& put) {
            protozero::pbf_writer inner(put, type_ == MetricType::counter ? metric::counter
                                                                          : metric::gauge);
            inner.add_double(number::value, one);
        });
    }
    void histogram(const MetricLabels& labels, const CallStatistics& calls) override {
        add(labels, [&](protozero::pbf_writer& put) {
            protozero::pbf_writer inner(put, metric::histogram);
            inner.add_uint64(histogram::sample_count,
                             static_cast<uint64_t>(calls.durations.total()));
            inner.add_double(histogram::sample_sum, calls.sum_ns / 1e9);
            put_classic(inner, calls.durations);
            put_native(inner, calls.durations);
        });
    }
    // The last one, too.
    uint64_t finish() {
        flush();
        return values_;
    }

  private:
    template <typename Put>
    void add(const MetricLabels& labels, Put put_number) {
        protozero::pbf_writer whole(bytes_);
        protozero::pbf_writer put(whole, family::metric);
        for (const auto& [name, label] : labels) {
            protozero::pbf_writer pair(put, metric::label);
            pair.add_string(label_pair::name, name.data(), name.size());
            pair.add_string(label_pair::value, label);
        }
        put_number(put);
        values_++;
    }

    static void put_classic(protozero::pbf_writer& put, const WeightedHistogram& durations) {
        const auto below = counts_below(durations);
        for (size_t i = 0; i <= below.size(); i++) {
            const bool is_last = i == below.size();
            protozero::pbf_writer inner(put, histogram::bucket);
            inner.add_uint64(bucket::cumulative_count,
                             static_cast<uint64_t>(is_last ? durations.total() : below[i]));
            inner.add_double(bucket::upper_bound,
                             is_last ? std::numeric_limits<double>::infinity()
                                     : static_cast<double>(series_bounds_ns[i]) / 1e9);
        }
    }

    // Runs of buckets that follow each other, each with how many are left out before it; counts as
    // the difference to the one before.
    static void put_native(protozero::pbf_writer& put, const WeightedHistogram& durations) {
        std::map<int32_t, int64_t> counts;
        for (uint32_t i = 1; i < durations.end_bucket(); i++)
            if (const auto count = static_cast<int64_t>(durations.count(i)))
                counts[native_index(i)] += count;
        put.add_sint32(histogram::schema, native_schema);
        // What takes no nanosecond is zero; also says that there is a native histogram.
        put.add_double(histogram::zero_threshold, std::ldexp(1, -128));
        put.add_uint64(histogram::zero_count, static_cast<uint64_t>(durations.count(0)));
        std::vector<int64_t> deltas;
        int64_t last = 0;
        int32_t end = 0; // of the run before
        for (auto at = counts.begin(); at != counts.end();) {
            const int32_t first = at->first;
            int32_t length = 0;
            for (; at != counts.end() && at->first == first + length; ++at, length++) {
                deltas.push_back(at->second - last);
                last = at->second;
            }
            protozero::pbf_writer run(put, histogram::positive_span);
            run.add_sint32(span::offset, first - end);
            run.add_uint32(span::length, static_cast<uint32_t>(length));
            end = first + length;
        }
        put.add_packed_sint64(histogram::positive_delta, deltas.begin(), deltas.end());
    }

    // Each message behind its length.
    void flush() {
        if (bytes_.empty())
            return;
        std::string length;
        protozero::write_varint(std::back_inserter(length), bytes_.size());
        out_.write(length + bytes_);
        bytes_.clear();
    }

    ByteSink& out_;
    std::string bytes_; // of the metric that is being written
    MetricType type_ = MetricType::gauge;
    uint64_t values_ = 0;
};

} // namespace

Result<uint64_t> write_prometheus_protobuf(const Model& model, const ExportQuery& query,
                                           ByteSink& out) {
    PrometheusProtobuf protobuf(out);
    write_metrics(model, query, protobuf);
    return protobuf.finish();
}

} // namespace auger
