// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/pprof.h"

#include "views/escape.h"
#include "views/exports/exported_samples.h"
#include "views/exports/gzip_sink.h"
#include "views/frame_text.h"

#include <protozero/pbf_writer.hpp>

#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

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

// Strings by number; number 0 is the empty one.
class Strings {
  public:
    Strings() { (*this)(""); }
    int64_t operator()(std::string_view raw) {
        auto [entry, is_new] =
            numbers_.try_emplace(escape_untrusted(raw), static_cast<int64_t>(order_.size()));
        if (is_new)
            order_.push_back(&entry->first);
        return entry->second;
    }
    const std::vector<const std::string*>& all() const { return order_; }

  private:
    std::unordered_map<std::string, int64_t> numbers_;
    std::vector<const std::string*> order_;
};

class Profile {
  public:
    Profile(const Model& model, const ExportQuery& query, ByteSink& out)
        : model_(model), query_(query), symbols_(model.symbols()), out_(out) {}

    void add(const ExportedSample& sample);
    uint64_t finish();

  private:
    struct Sums {
        double samples = 0, cpu = 0, blocked = 0, runnable = 0;
    };
    // Samples that share all of this are one.
    struct Key {
        StackId stack;
        ThreadId thread;
        CallClass call_class;
        uint32_t spec; // of the innermost call; or no_spec
        auto operator<=>(const Key&) const = default;
    };
    struct Entry {
        std::vector<uint64_t> locations;
        Sums sums;
    };
    static constexpr uint32_t no_spec = UINT32_MAX;

    uint64_t location(LocationId id, std::span<const ExportedFrame> lines);
    uint64_t function(const FrameEntry& entry);
    uint64_t mapping(ModuleId id);
    void put_value_type(uint32_t field, std::string_view type, std::string_view unit);
    void put_label(protozero::pbf_writer& sample, std::string_view key, std::string_view text);
    void put_number(protozero::pbf_writer& sample, std::string_view key, uint64_t number);
    void put_sample(const Key& key, const Entry& entry);
    void put_time();
    // Hands over what was put together.
    void flush() {
        out_.write(bytes_);
        bytes_.clear();
    }

    const Model& model_;
    const ExportQuery& query_;
    const SymbolTables& symbols_;
    ByteSink& out_;
    std::string bytes_;
    protozero::pbf_writer message_{bytes_};
    Strings string_;
    std::map<Key, Entry> entries_;
    // By the first and the last of the lines that are shown.
    std::map<std::tuple<LocationId, const FrameEntry*, const FrameEntry*>, uint64_t> locations_;
    std::map<std::pair<FunctionId, StringId>, uint64_t> functions_;
    std::map<ModuleId, uint64_t> mappings_;
};

uint64_t Profile::mapping(ModuleId id) {
    auto [entry, is_new] = mappings_.try_emplace(id, mappings_.size() + 1);
    if (is_new) {
        const ModuleInfo& module = symbols_.module(id);
        protozero::pbf_writer put(message_, profile::mapping);
        put.add_uint64(mapping::id, entry->second);
        put.add_int64(mapping::filename, string_(module.path));
        put.add_int64(mapping::build_id, string_(module.build_id));
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
        const int64_t name = string_(frame_text(symbols_.name(entry.function)));
        const int64_t file = string_(symbols_.text(entry.file));
        protozero::pbf_writer put(message_, profile::function);
        put.add_uint64(function::id, known->second);
        put.add_int64(function::name, name);
        put.add_int64(function::system_name, name);
        put.add_int64(function::filename, file);
    }
    return known->second;
}

uint64_t Profile::location(LocationId id, std::span<const ExportedFrame> lines) {
    const auto [known, is_new] = locations_.try_emplace(
        {id, lines.front().entry, lines.back().entry}, locations_.size() + 1);
    if (!is_new)
        return known->second;
    const Location place = symbols_.location(id);
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

void Profile::add(const ExportedSample& one) {
    const CallIndex call = one.sample.call;
    const Key key{one.sample.stack, one.sample.thread, one.call_class,
                  call == no_call ? no_spec : model_.calls()[call].spec.value};
    auto [entry, is_new] = entries_.try_emplace(key);
    if (is_new) {
        // Tools take the first mapping for the program.
        if (mappings_.empty() && !one.frames.empty())
            mapping(symbols_.location(one.frames.back().location).module);
        for (size_t at = 0; at < one.frames.size();) {
            size_t end = at + 1;
            while (end < one.frames.size() && one.frames[end].place == one.frames[at].place)
                end++;
            entry->second.locations.push_back(
                location(one.frames[at].location, one.frames.subspan(at, end - at)));
            at = end;
        }
        flush();
    }
    Sums& sums = entry->second.sums;
    sums.samples += one.samples;
    switch (one.sample.kind) {
    case SampleKind::cpu:
        sums.cpu += one.weight_ns;
        break;
    case SampleKind::blocked:
        sums.blocked += one.weight_ns;
        break;
    case SampleKind::runnable:
        sums.runnable += one.weight_ns;
        break;
    }
}

void Profile::put_label(protozero::pbf_writer& sample, std::string_view key,
                        std::string_view text) {
    const int64_t key_number = string_(key), text_number = string_(text);
    protozero::pbf_writer put(sample, sample::label);
    put.add_int64(label::key, key_number);
    put.add_int64(label::str, text_number);
}

void Profile::put_number(protozero::pbf_writer& sample, std::string_view key, uint64_t number) {
    const int64_t key_number = string_(key);
    protozero::pbf_writer put(sample, sample::label);
    put.add_int64(label::key, key_number);
    put.add_int64(label::num, static_cast<int64_t>(number));
}

void Profile::put_sample(const Key& key, const Entry& entry) {
    const ThreadInfo& thread = symbols_.thread(key.thread);
    protozero::pbf_writer put(message_, profile::sample);
    put.add_packed_uint64(sample::location_id, entry.locations.begin(), entry.locations.end());
    const std::array<int64_t, 4> values = {
        std::llround(entry.sums.samples), std::llround(entry.sums.cpu),
        std::llround(entry.sums.blocked), std::llround(entry.sums.runnable)};
    put.add_packed_int64(sample::value, values.begin(), values.end());
    if (model_.split().active)
        put_label(put, "class", to_string(key.call_class));
    put_label(put, "process", model_.process_name(key.thread));
    put_label(put, "thread", thread.comm);
    if (const std::string& machine = model_.machine(thread.machine).name; !machine.empty())
        put_label(put, "machine", machine);
    put_number(put, "pid", thread.pid);
    put_number(put, "tid", thread.tid);
    if (key.spec < model_.specs().size())
        put_label(put, "probe", model_.specs()[key.spec].function);
}

void Profile::put_value_type(uint32_t field, std::string_view type, std::string_view unit) {
    const int64_t type_number = string_(type), unit_number = string_(unit);
    protozero::pbf_writer put(message_, field);
    put.add_int64(value_type::type, type_number);
    put.add_int64(value_type::unit, unit_number);
}

// What it is of: the window, as far back as there are samples.
void Profile::put_time() {
    const Window& window = query_.window;
    const uint64_t now = model_.now_ns(), until = window.until(now);
    uint64_t since = window.since(model_.first_ns(), now);
    if (model_.samples_evicted() > 0 && model_.samples().size() > 0)
        since = std::max(since, model_.samples().oldest().time_ns);
    since = std::min(since, until);
    if (const auto wall = model_.wall_ns(since); wall && since > 0)
        message_.add_int64(profile::time_nanos, static_cast<int64_t>(*wall));
    message_.add_int64(profile::duration_nanos, static_cast<int64_t>(until - since));
}

uint64_t Profile::finish() {
    put_value_type(profile::sample_type, "samples", "count");
    put_value_type(profile::sample_type, "cpu", "nanoseconds");
    put_value_type(profile::sample_type, "blocked", "nanoseconds");
    put_value_type(profile::sample_type, "runnable", "nanoseconds");
    double samples = 0;
    for (const auto& [key, entry] : entries_) {
        put_sample(key, entry);
        samples += entry.sums.samples;
        flush();
    }
    put_time();
    put_value_type(profile::period_type, "cpu", "nanoseconds");
    if (const uint64_t rate = model_.ledger().rate_hz)
        message_.add_int64(profile::period, static_cast<int64_t>(1'000'000'000 / rate));
    for (const std::string& note : export_notes(model_, query_))
        message_.add_int64(profile::comment, string_(note));
    message_.add_int64(profile::default_sample_type, string_("cpu"));
    for (const std::string* text : string_.all())
        message_.add_string(profile::string_table, *text);
    flush();
    return static_cast<uint64_t>(std::llround(samples));
}

} // namespace

Result<uint64_t> write_pprof(const Model& model, const ExportQuery& query, ByteSink& out) {
    GzipSink compressed(out);
    Profile profile(model, query, compressed);
    ExportedSamples(model, query).for_each([&](const ExportedSample& one) { profile.add(one); });
    const uint64_t samples = profile.finish();
    compressed.finish();
    return samples;
}

} // namespace auger
