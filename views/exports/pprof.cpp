// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/pprof.h"

#include "views/escape.h"
#include "views/exports/gzip_sink.h"
#include "views/exports/numbered_strings.h"
#include "views/exports/summed_samples.h"
#include "views/frame_text.h"
#include "views/model/stack_labels.h"

#include <protozero/pbf_writer.hpp>

#include <cmath>
#include <map>

namespace auger {

namespace {

// Fields of the messages in profile.proto.
namespace profile {
enum : uint32_t {
    sample_type = 1,
    sample = 2,
    mapping = 3,
    location = 4,
    function = 5,
    string_table = 6,
    time_nanos = 9,
    duration_nanos = 10,
    period_type = 11,
    period = 12,
    comment = 13,
    default_sample_type = 14,
};
}
namespace value_type {
enum : uint32_t { type = 1, unit = 2 };
}
namespace sample {
enum : uint32_t { location_id = 1, value = 2, label = 3 };
}
namespace label {
enum : uint32_t { key = 1, str = 2, num = 3 };
}
namespace mapping {
enum : uint32_t {
    id = 1,
    filename = 5,
    build_id = 6,
    has_functions = 7,
    has_filenames = 8,
    has_line_numbers = 9,
    has_inline_frames = 10
};
}
namespace location {
enum : uint32_t { id = 1, mapping_id = 2, address = 3, line = 4 };
}
namespace line {
enum : uint32_t { function_id = 1, line = 2 };
}
namespace function {
enum : uint32_t { id = 1, name = 2, system_name = 3, filename = 4 };
}

class Profile {
  public:
    Profile(const Model& model, const ExportQuery& query, ByteSink& out)
        : model_(model), query_(query), symbols_(model.symbols()), out_(out),
          samples_(model, query.threads) {}

    void add(const ExportedSample& one) {
        ExportedSample counted = one;
        if (!query_.threads)
            counted.sample.thread = first_thread(one.sample.thread);
        samples_.add(counted, [&](std::span<const ExportedFrame> frames) { return stack(frames); });
    }
    ProfileSize finish();

  private:
    using Locations = std::vector<uint64_t>;
    using Samples = SummedSamples<Locations>;

    // The first that was seen of its process; of the kernel's own threads, of them all.
    ThreadId first_thread(ThreadId id) {
        ThreadInfo of = symbols_.thread(id);
        if (of.kernel)
            of.pid = 0;
        return processes_.try_emplace(process_key(of), id).first->second;
    }
    Locations stack(std::span<const ExportedFrame> frames);
    uint64_t location(std::span<const ExportedFrame> lines);
    uint64_t function(const FrameEntry& entry);
    uint64_t mapping(ModuleId id);
    void put_value_type(uint32_t field, std::string_view type, std::string_view unit);
    void put_label(protozero::pbf_writer& sample, std::string_view key, std::string_view text);
    void put_number(protozero::pbf_writer& sample, std::string_view key, uint64_t number);
    void put_sample(const Samples::Key& key, const Samples::Entry& entry);
    void put_time();
    int32_t string(std::string_view raw) { return strings_(escape_untrusted(raw)); }
    // Hands over what was put together.
    void flush() {
        size_.bytes += bytes_.size();
        out_.write(bytes_);
        bytes_.clear();
    }

    const Model& model_;
    const ExportQuery& query_;
    const SymbolTables& symbols_;
    ByteSink& out_;
    std::string bytes_;
    protozero::pbf_writer message_{bytes_};
    NumberedStrings strings_;
    Samples samples_;
    std::map<LocationLines, uint64_t> locations_;
    std::map<std::pair<FunctionId, StringId>, uint64_t> functions_;
    std::map<ModuleId, uint64_t> mappings_;
    std::map<uint64_t, ThreadId> processes_; // where threads are not told apart
    ProfileSize size_;                       // of what was handed over
};

uint64_t Profile::mapping(ModuleId id) {
    auto [entry, is_new] = mappings_.try_emplace(id, mappings_.size() + 1);
    if (is_new) {
        const ModuleInfo& module = symbols_.module(id);
        protozero::pbf_writer put(message_, profile::mapping);
        put.add_uint64(mapping::id, entry->second);
        put.add_int64(mapping::filename, string(module.path));
        put.add_int64(mapping::build_id, string(module.build_id));
        // All that can be told is told: nobody need look into the file.
        for (uint32_t has : {mapping::has_functions, mapping::has_filenames,
                             mapping::has_line_numbers, mapping::has_inline_frames})
            put.add_bool(has, true);
    }
    return entry->second;
}

uint64_t Profile::function(const FrameEntry& entry) {
    auto [known, is_new] =
        functions_.try_emplace({entry.function, entry.file}, functions_.size() + 1);
    if (is_new) {
        // pprof shortens names by what is in parentheses.
        const int64_t name = string(frame_text(symbols_.name(entry.function)));
        const int64_t file = string(symbols_.text(entry.file));
        protozero::pbf_writer put(message_, profile::function);
        put.add_uint64(function::id, known->second);
        put.add_int64(function::name, name);
        put.add_int64(function::system_name, name);
        put.add_int64(function::filename, file);
    }
    return known->second;
}

uint64_t Profile::location(std::span<const ExportedFrame> lines) {
    const auto [known, is_new] =
        locations_.try_emplace(location_lines(lines), locations_.size() + 1);
    if (!is_new)
        return known->second;
    const Location place = symbols_.location(lines.front().location);
    const uint64_t module = mapping(place.module);
    std::vector<std::pair<uint64_t, uint32_t>> numbered;
    for (const ExportedFrame& frame : lines)
        numbered.emplace_back(function(*frame.entry), frame.entry->line);
    protozero::pbf_writer put(message_, profile::location);
    put.add_uint64(location::id, known->second);
    put.add_uint64(location::mapping_id, module);
    put.add_uint64(location::address, place.address);
    for (const auto& [function_id, number] : numbered) {
        protozero::pbf_writer line(put, location::line);
        line.add_uint64(line::function_id, function_id);
        line.add_int64(line::line, number);
    }
    return known->second;
}

Profile::Locations Profile::stack(std::span<const ExportedFrame> frames) {
    // Tools take the first mapping for the program.
    if (mappings_.empty() && !frames.empty())
        mapping(symbols_.location(frames.back().location).module);
    Locations locations;
    for_each_location(frames, [&](std::span<const ExportedFrame> lines) {
        locations.push_back(location(lines));
    });
    flush();
    return locations;
}

void Profile::put_label(protozero::pbf_writer& sample, std::string_view key,
                        std::string_view text) {
    const int64_t key_number = string(key), text_number = string(text);
    protozero::pbf_writer put(sample, sample::label);
    put.add_int64(label::key, key_number);
    put.add_int64(label::str, text_number);
}

void Profile::put_number(protozero::pbf_writer& sample, std::string_view key, uint64_t number) {
    const int64_t key_number = string(key);
    protozero::pbf_writer put(sample, sample::label);
    put.add_int64(label::key, key_number);
    put.add_int64(label::num, static_cast<int64_t>(number));
}

void Profile::put_sample(const Samples::Key& key, const Samples::Entry& entry) {
    const ThreadInfo& thread = symbols_.thread(key.thread);
    protozero::pbf_writer put(message_, profile::sample);
    put.add_packed_uint64(sample::location_id, entry.stack.begin(), entry.stack.end());
    std::vector<int64_t> values = {std::llround(entry.sums.all_samples())};
    for (const double weight_ns : entry.sums.weight_ns)
        values.push_back(std::llround(weight_ns));
    put.add_packed_int64(sample::value, values.begin(), values.end());
    if (model_.split().active)
        put_label(put, "class", to_string(key.call_class));
    put_label(put, "process", exported_process(model_, query_, key.thread));
    if (query_.threads)
        put_label(put, "thread", thread.comm);
    if (const std::string& machine = model_.machine(thread.machine).name; !machine.empty())
        put_label(put, "machine", machine);
    if (query_.threads || !thread.kernel)
        put_number(put, "pid", thread.pid);
    if (query_.threads)
        put_number(put, "tid", thread.tid);
    if (const std::string* probe = samples_.probe(key))
        put_label(put, "probe", *probe);
    if (const auto label = go_label_of(symbols_, key.stack))
        put_label(put, label->key, label->value);
    if (const TraceLink* link = samples_.link(key)) {
        put_label(put, "trace_id", link->trace);
        if (!link->span.empty())
            put_label(put, "span_id", link->span);
    }
}

void Profile::put_value_type(uint32_t field, std::string_view type, std::string_view unit) {
    const int64_t type_number = string(type), unit_number = string(unit);
    protozero::pbf_writer put(message_, field);
    put.add_int64(value_type::type, type_number);
    put.add_int64(value_type::unit, unit_number);
}

void Profile::put_time() {
    const ExportedTime time = exported_time(model_, query_);
    if (time.begin_ns)
        message_.add_int64(profile::time_nanos, static_cast<int64_t>(*time.begin_ns));
    message_.add_int64(profile::duration_nanos, static_cast<int64_t>(time.duration_ns));
}

ProfileSize Profile::finish() {
    put_value_type(profile::sample_type, "samples", "count");
    put_value_type(profile::sample_type, "cpu", "nanoseconds");
    put_value_type(profile::sample_type, "blocked", "nanoseconds");
    put_value_type(profile::sample_type, "runnable", "nanoseconds");
    double samples = 0;
    for (const auto& [key, entry] : samples_.entries()) {
        put_sample(key, entry);
        samples += entry.sums.all_samples();
        flush();
    }
    put_time();
    put_value_type(profile::period_type, "cpu", "nanoseconds");
    if (const uint64_t rate = model_.ledger().rate_hz)
        message_.add_int64(profile::period, static_cast<int64_t>(1'000'000'000 / rate));
    for (const std::string& note : export_notes(model_, query_))
        message_.add_int64(profile::comment, string(note));
    message_.add_int64(profile::default_sample_type, string("cpu"));
    for (const std::string* text : strings_.all())
        message_.add_string(profile::string_table, *text);
    flush();
    size_.samples = static_cast<uint64_t>(std::llround(samples));
    size_.entries = samples_.entries().size();
    return size_;
}

} // namespace

Result<uint64_t> write_pprof(const Model& model, const ExportQuery& query, ByteSink& out) {
    return write_sized_pprof(model, query, out).samples;
}

ProfileSize write_sized_pprof(const Model& model, const ExportQuery& query, ByteSink& out) {
    GzipSink compressed(out);
    Profile profile(model, query, compressed);
    ExportedSamples(model, query).for_each([&](const ExportedSample& one) { profile.add(one); });
    const ProfileSize size = profile.finish();
    compressed.finish();
    return size;
}

std::map<SeriesLabels, SeriesProfile> pprof_by_series(const Model& model,
                                                      const ExportQuery& query) {
    struct Series {
        Series(const Model& model, const ExportQuery& query) : profile(model, query, bytes) {}
        StringSink bytes;
        Profile profile;
    };
    std::map<SeriesLabels, Series> all;
    std::map<ThreadId, Series*> of_thread;
    ExportedSamples(model, query).for_each([&](const ExportedSample& one) {
        Series*& series = of_thread[one.sample.thread];
        if (!series)
            series =
                &all.try_emplace(series_labels(service_identity(model, query, one.sample.thread)),
                                 model, query)
                     .first->second;
        series->profile.add(one);
    });
    std::map<SeriesLabels, SeriesProfile> profiles;
    for (auto& [labels, series] : all) {
        SeriesProfile& profile = profiles[labels];
        profile.size = series.profile.finish();
        StringSink gzipped;
        GzipSink compressed(gzipped);
        compressed.write(series.bytes.text);
        compressed.finish();
        profile.gzipped = std::move(gzipped.text);
    }
    return profiles;
}

} // namespace auger
