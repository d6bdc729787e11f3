// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/otlp.h"

#include "views/exports/otlp_dictionary.h"
#include "views/exports/otlp_fields.h"
#include "views/exports/service_identity.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace auger {

namespace {

// Stores take what has no name for one service; OpenTelemetry calls it so.
constexpr const char* unknown_service = "unknown_service";

constexpr std::array<std::string_view, sample_kinds> wait_names = {"", "blocked", "runnable"};

struct ProfileType {
    std::string_view type, unit;
    bool of_waits; // else of CPU time
    double SampleSum::*value;
};
// Tools show the first one unless they are told otherwise.
constexpr std::array profile_types = {
    ProfileType{"samples", "count", false, &SampleSum::samples},
    ProfileType{"cpu", "nanoseconds", false, &SampleSum::weight_ns},
    ProfileType{"off_cpu", "nanoseconds", true, &SampleSum::weight_ns},
};

class OtlpProfiles {
  public:
    OtlpProfiles(const Model& model, const ExportQuery& query)
        : model_(model), query_(query), symbols_(model.symbols()), dictionary_(symbols_),
          samples_(model, true) {}

    void add(const ExportedSample& one) {
        samples_.add(
            one, [&](std::span<const ExportedFrame> frames) { return dictionary_.stack(frames); });
    }
    ProfileSize write(ByteSink& out);

  private:
    using Samples = SummedSamples<int32_t>; // by indices of stacks

    // By stack, link and attributes, which is all that is told of a sample.
    using Sums = std::map<std::tuple<int32_t, int32_t, std::vector<int32_t>>, SampleSum>;
    struct Resource {
        std::set<uint64_t> processes;
        std::set<std::string> executables;
        uint32_t pid = 0; // of the last one of the processes
        Sums cpu, waits;
    };

    void gather();
    std::vector<int32_t> attributes(const Samples::Key& key);
    void put_resource(protozero::pbf_writer& data, const ServiceIdentity& identity,
                      const Resource& resource);
    void put_attributes(protozero::pbf_writer& put, const ServiceIdentity& identity,
                        const Resource& resource);
    void put_profile(protozero::pbf_writer& scope, const ProfileType& type, const Sums& sums);
    void put_type(protozero::pbf_writer& profile, uint32_t field, std::string_view type,
                  std::string_view unit);

    const Model& model_;
    const ExportQuery& query_;
    const SymbolTables& symbols_;
    OtlpDictionary dictionary_;
    Samples samples_;
    std::map<ServiceIdentity, Resource> resources_;
    double count_ = 0;
};

std::vector<int32_t> OtlpProfiles::attributes(const Samples::Key& key) {
    const std::string* probe = samples_.probe(key);
    std::vector<int32_t> all = {
        dictionary_.attribute("class", model_.split().active ? to_string(key.call_class) : ""),
        dictionary_.attribute("probe", probe ? std::string_view(*probe) : ""),
        dictionary_.attribute("process", exported_process(model_, query_, key.thread)),
    };
    if (query_.threads) {
        const ThreadInfo& thread = symbols_.thread(key.thread);
        all.push_back(dictionary_.attribute("thread.name", thread.comm));
        all.push_back(dictionary_.attribute("thread.id", std::to_string(thread.tid)));
    }
    return all;
}

void OtlpProfiles::gather() {
    for (const auto& [key, entry] : samples_.entries()) {
        const ThreadInfo& thread = symbols_.thread(key.thread);
        Resource& resource = resources_[service_identity(model_, query_, key.thread)];
        resource.processes.insert(process_key(thread));
        resource.executables.emplace(thread.kernel ? "" : model_.process_name(key.thread));
        resource.pid = thread.pid;
        const std::vector<int32_t> common = attributes(key);
        const TraceLink* trace = samples_.link(key);
        const int32_t link = trace ? dictionary_.link(*trace) : 0;
        for (size_t kind = 0; kind < sample_kinds; kind++) {
            const double samples = entry.sums.samples[kind];
            if (samples == 0)
                continue;
            std::vector<int32_t> all = common;
            all.push_back(dictionary_.attribute("wait", wait_names[kind]));
            Sums& sums = wait_names[kind].empty() ? resource.cpu : resource.waits;
            sums[{entry.stack, link, std::move(all)}] +=
                {samples, entry.sums.weight_ns[kind], 0, 0};
        }
        count_ += entry.sums.all_samples();
    }
    // What was lost is told even if nothing else is.
    if (resources_.empty()) {
        const std::string& host = query_.host.empty() ? model_.machine({}).name : query_.host;
        resources_[{query_.service, host, {}, {}, {}}];
    }
}

void OtlpProfiles::put_type(protozero::pbf_writer& profile, uint32_t field, std::string_view type,
                            std::string_view unit) {
    protozero::pbf_writer put(profile, field);
    put.add_int32(otlp::value_type::type_strindex, dictionary_.string(type));
    put.add_int32(otlp::value_type::unit_strindex, dictionary_.string(unit));
}

void OtlpProfiles::put_profile(protozero::pbf_writer& scope, const ProfileType& type,
                               const Sums& sums) {
    protozero::pbf_writer put(scope, otlp::scope_profiles::profiles);
    put_type(put, otlp::profile::sample_type, type.type, type.unit);
    SampleSum all;
    for (const auto& [key, sum] : sums) {
        const auto& [stack, link, attributes] = key;
        const int64_t value = std::llround(sum.*type.value);
        protozero::pbf_writer sample(put, otlp::profile::samples);
        if (stack != 0)
            sample.add_int32(otlp::sample::stack_index, stack);
        put_otlp_attributes(sample, otlp::sample::attribute_indices, attributes);
        if (link != 0)
            sample.add_int32(otlp::sample::link_index, link);
        sample.add_packed_int64(otlp::sample::values, &value, &value + 1);
        all += sum;
    }
    const ExportedTime time = exported_time(model_, query_);
    if (time.begin_ns)
        put.add_fixed64(otlp::profile::time_unix_nano, *time.begin_ns);
    put.add_uint64(otlp::profile::duration_nano, time.duration_ns);
    if (type.of_waits) {
        put.add_message(otlp::profile::period_type, std::string()); // receivers refuse one without
    } else {
        put_type(put, otlp::profile::period_type, "cpu", "nanoseconds");
        // The average, so that all samples together stand for their CPU time at whatever rates.
        if (all.samples > 0)
            put.add_int64(otlp::profile::period, std::llround(all.weight_ns / all.samples));
    }
    put_otlp_attributes(
        put, otlp::profile::attribute_indices,
        {dictionary_.attribute("pprof.profile.comment", export_notes(model_, query_))});
}

void OtlpProfiles::put_attributes(protozero::pbf_writer& put, const ServiceIdentity& identity,
                                  const Resource& resource) {
    const auto put_one = [&](std::string_view key, const std::string& raw) {
        if (raw.empty())
            return;
        protozero::pbf_writer attribute(put, otlp::resource::attributes);
        attribute.add_string(otlp::key_value::key, key.data(), key.size());
        put_otlp_text(attribute, otlp::key_value::value, raw);
    };
    put_one("service.name", identity.service.empty() ? unknown_service : identity.service);
    put_one("host.name", identity.host);
    put_one("container.id", identity.container);
    const bool in_pod = !identity.names.pod.empty();
    put_one(in_pod ? "k8s.container.name" : "container.name", identity.names.name);
    put_one("k8s.pod.uid", identity.pod);
    put_one("k8s.pod.name", identity.names.pod);
    put_one("k8s.namespace.name", identity.names.pod_namespace);
    if (resource.processes.size() == 1)
        put_one("process.pid", std::to_string(resource.pid));
    if (resource.executables.size() == 1)
        put_one("process.executable.name", *resource.executables.begin());
}

void OtlpProfiles::put_resource(protozero::pbf_writer& data, const ServiceIdentity& identity,
                                const Resource& resource) {
    protozero::pbf_writer put(data, otlp::profiles_data::resource_profiles);
    {
        protozero::pbf_writer attributes(put, otlp::resource_profiles::resource);
        put_attributes(attributes, identity, resource);
    }
    protozero::pbf_writer scope(put, otlp::resource_profiles::scope_profiles);
    {
        protozero::pbf_writer made_by(scope, otlp::scope_profiles::scope);
        made_by.add_string(otlp::instrumentation_scope::name, "auger");
    }
    const bool nothing = resource.cpu.empty() && resource.waits.empty();
    for (const ProfileType& type : profile_types) {
        const Sums& sums = type.of_waits ? resource.waits : resource.cpu;
        if (nothing || !sums.empty())
            put_profile(scope, type, sums);
    }
}

ProfileSize OtlpProfiles::write(ByteSink& out) {
    gather();
    ProfileSize size{.samples = static_cast<uint64_t>(std::llround(count_))};
    std::string bytes;
    protozero::pbf_writer data(bytes);
    const auto flush = [&] {
        size.bytes += bytes.size();
        out.write(bytes);
        bytes.clear();
    };
    for (const auto& [identity, resource] : resources_) {
        put_resource(data, identity, resource);
        size.entries = std::max({size.entries, resource.cpu.size(), resource.waits.size()});
        flush();
    }
    dictionary_.write(data);
    flush();
    return size;
}

} // namespace

Result<uint64_t> write_otlp(const Model& model, const ExportQuery& query, ByteSink& out) {
    return write_sized_otlp(model, query, out).samples;
}

ProfileSize write_sized_otlp(const Model& model, const ExportQuery& query, ByteSink& out) {
    OtlpProfiles profiles(model, query);
    ExportedSamples(model, query).for_each([&](const ExportedSample& one) { profiles.add(one); });
    return profiles.write(out);
}

} // namespace auger
