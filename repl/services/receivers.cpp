// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/receivers.h"

#include "loader/base/read_clock.h"
#include "views/exports/base64_sink.h"
#include "views/exports/gzip_sink.h"
#include "views/exports/otlp.h"
#include "views/exports/pprof.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/random.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

// Stores take names and units of a profile's types from the profile itself.
constexpr const char* metric_name = "process_cpu";

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// [{"name":...,"value":...},...]
std::string json_labels(const SeriesLabels& labels) {
    std::string json = fmt::format(R"([{{"name":"__name__","value":"{}"}})", metric_name);
    for (const auto& [name, value] : labels)
        json += fmt::format(R"(,{{"name":"{}","value":{}}})", name, quoted(value));
    return json + "]";
}

// A random one (RFC 9562, version 4): an interval that is sent twice is known by it.
std::string random_uuid() {
    std::array<unsigned char, 16> bytes{};
    (void)!getrandom(bytes.data(), bytes.size(), 0);
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
    bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
    std::string text;
    for (size_t i = 0; i < bytes.size(); i++)
        text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    return text;
}

// What stands before and behind a series' profile, in base64.
struct Envelope {
    std::string head;
    std::string_view tail;
};

// A message whose series have a profile each.
ProfileSize write_series(const Model& model, const ExportQuery& query, std::string_view head,
                         Envelope (*envelope)(const SeriesLabels&), ByteSink& out) {
    ProfileSize size;
    out.write(head);
    std::string_view separator;
    for (const auto& [labels, profile] : pprof_by_series(model, query)) {
        const Envelope around = envelope(labels);
        out.write(std::exchange(separator, ","));
        out.write(around.head);
        Base64Sink base64(out);
        base64.write(profile.gzipped);
        base64.finish();
        out.write(around.tail);
        size.samples += profile.size.samples;
        size.entries = std::max(size.entries, profile.size.entries);
        size.bytes = std::max(size.bytes, profile.size.bytes);
    }
    out.write("]}");
    return size;
}

// PushRequest of push.v1, as Connect's JSON.
ProfileSize write_push(const Model& model, const ExportQuery& query, ByteSink& out) {
    return write_series(
        model, query, R"({"series":[)",
        [](const SeriesLabels& labels) {
            return Envelope{fmt::format(R"({{"labels":{},"samples":[{{"ID":"{}","rawProfile":")",
                                        json_labels(labels), random_uuid()),
                            R"("}]})"};
        },
        out);
}

// WriteRawRequest of parca.profilestore.v1alpha1; addresses are those in the files.
ProfileSize write_parca(const Model& model, const ExportQuery& query, ByteSink& out) {
    return write_series(
        model, query, R"({"normalized":true,"series":[)",
        [](const SeriesLabels& labels) {
            return Envelope{fmt::format(R"({{"labels":{{"labels":{}}},"samples":[{{"rawProfile":")",
                                        json_labels(labels)),
                            R"("}]})"};
        },
        out);
}

std::string pyroscope_ingest(const Spool::Entry& entry) {
    // Whole seconds, of which there is at least one.
    const uint64_t from = entry.begin_ms / 1'000,
                   until = std::max((entry.begin_ms + entry.length_ms + 999) / 1'000, from + 1);
    return fmt::format("name={}&from={}&until={}&format=pprof&spyName=auger", entry.service, from,
                       until);
}

// OTLP names these, and no others (its specification, "Retryable Response Codes"). Status 0 is an
// answer that did not come.
constexpr std::array<uint32_t, 5> busy_statuses = {0, 429, 502, 503, 504};
// By gRPC's codes as HTTP has them, Connect's in former versions, too: canceled and deadline
// exceeded are 408, aborted is 409, unknown, internal and data loss are 500. Pyroscope's own client
// (Grafana Alloy) sends all of these again.
constexpr std::array<uint32_t, 3> doubtful_statuses = {408, 409, 500};

// Pyroscope's (validation.max-profile-size-bytes, validation.max-profile-stacktrace-samples), and
// the bytes that gRPC takes, which is behind many a collector.
constexpr ReceiverProtocol::Limits usual_most{.entries = 16'000, .bytes = 4 << 20};
// Parca's gRPC.
constexpr ReceiverProtocol::Limits parca_most{.entries = UINT64_MAX, .bytes = 32 << 20};
constexpr uint64_t least_part_ns = second_ns / 100;

constexpr std::array protocols = {
    ReceiverProtocol{.name = "otlp",
                     .about = "OpenTelemetry collectors, Pyroscope",
                     .path = "/v1development/profiles",
                     .content_type = "application/x-protobuf",
                     .gzip = true,
                     .otlp = true,
                     .busy = busy_statuses,
                     .doubtful = {},
                     .most = usual_most,
                     .least_part_ns = least_part_ns,
                     .write = write_sized_otlp,
                     .parameters = nullptr,
                     .one_service = false},
    ReceiverProtocol{.name = "pyroscope",
                     .about = "Pyroscope",
                     .path = "/push.v1.PusherService/Push",
                     .content_type = "application/json",
                     .gzip = true,
                     .otlp = false,
                     .busy = busy_statuses,
                     .doubtful = doubtful_statuses,
                     .most = usual_most,
                     .least_part_ns = least_part_ns,
                     .write = write_push,
                     .parameters = nullptr,
                     .one_service = false},
    ReceiverProtocol{.name = "pyroscope-ingest",
                     .about = "what takes Pyroscope's /ingest",
                     .path = "/ingest",
                     .content_type = "application/octet-stream",
                     .gzip = false,
                     .otlp = false,
                     .busy = busy_statuses,
                     .doubtful = doubtful_statuses,
                     .most = usual_most,
                     .least_part_ns = second_ns, // its URL has whole seconds
                     .write = write_sized_pprof,
                     .parameters = pyroscope_ingest,
                     .one_service = true},
    ReceiverProtocol{.name = "parca",
                     .about = "Parca",
                     .path = "/api/profiles/writeraw",
                     .content_type = "application/json",
                     .gzip = false,
                     .otlp = false,
                     .busy = busy_statuses,
                     .doubtful = doubtful_statuses,
                     .most = parca_most,
                     .least_part_ns = least_part_ns,
                     .write = write_parca,
                     .parameters = nullptr,
                     .one_service = false},
};

bool is_one_of(std::span<const uint32_t> statuses, uint32_t status) {
    return std::ranges::find(statuses, status) != statuses.end();
}

} // namespace

std::span<const ReceiverProtocol> receiver_protocols() {
    return protocols;
}

const ReceiverProtocol* find_receiver_protocol(std::string_view name) {
    for (const ReceiverProtocol& protocol : protocols)
        if (protocol.name == name)
            return &protocol;
    return nullptr;
}

HttpPost make_request(const ReceiverProtocol& protocol, const std::string& receiver,
                      const Spool::Entry& entry) {
    HttpPost post;
    post.url = receiver;
    while (post.url.ends_with('/'))
        post.url.pop_back();
    // Some name the whole of it.
    if (!post.url.ends_with(protocol.path))
        post.url += protocol.path;
    if (protocol.parameters)
        post.url += "?" + protocol.parameters(entry);
    post.otlp = protocol.otlp;
    post.seconds = HttpPost::seconds_for(entry.bytes);
    post.headers.push_back(fmt::format("Content-Type: {}", protocol.content_type));
    if (protocol.gzip)
        post.headers.emplace_back("Content-Encoding: gzip");
    return post;
}

Fate fate_of(const ReceiverProtocol& protocol, uint32_t status, bool with_headers) {
    if (status >= 200 && status < 300) // OTLP's partial success, too
        return Fate::shipped;
    const bool is_let_in = status != 401 && status != 403;
    if (is_one_of(protocol.busy, status) || (with_headers && !is_let_in))
        return Fate::busy;
    return is_one_of(protocol.doubtful, status) ? Fate::doubtful : Fate::refused;
}

ProfileSize write_request_body(const ReceiverProtocol& protocol, const Model& model,
                               const ExportQuery& query, ByteSink& out) {
    if (!protocol.gzip)
        return protocol.write(model, query, out);
    GzipSink compressed(out);
    const ProfileSize size = protocol.write(model, query, compressed);
    compressed.finish();
    return size;
}

bool is_too_large(const ReceiverProtocol& protocol, const ProfileSize& size) {
    return size.bytes > protocol.most.bytes || size.entries > protocol.most.entries;
}

} // namespace auger
