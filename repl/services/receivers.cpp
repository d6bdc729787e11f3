// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/receivers.h"

#include "views/exports/base64_sink.h"
#include "views/exports/gzip_sink.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/random.h>

#include <array>

namespace auger {
namespace {

// Stores take names and units of a profile's types from the profile itself.
constexpr const char* metric_name = "process_cpu";

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// [{"name":...,"value":...},...]: of a series.
std::string series_labels(const ExportQuery& query) {
    std::string labels =
        fmt::format(R"([{{"name":"__name__","value":"{}"}},{{"name":"service_name","value":{}}})",
                    metric_name, quoted(query.service));
    if (!query.host.empty())
        labels += fmt::format(R"(,{{"name":"hostname","value":{}}})", quoted(query.host));
    return labels + "]";
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

// PushRequest of push.v1, as Connect's JSON.
ReceiverProtocol::Envelope pyroscope_push(const ExportQuery& query) {
    return {fmt::format(R"({{"series":[{{"labels":{},"samples":[{{"ID":"{}","rawProfile":")",
                        series_labels(query), random_uuid()),
            R"("}]}]})"};
}

// WriteRawRequest of parca.profilestore.v1alpha1; addresses are those in the files.
ReceiverProtocol::Envelope parca_write_raw(const ExportQuery& query) {
    return {
        fmt::format(
            R"({{"normalized":true,"series":[{{"labels":{{"labels":{}}},"samples":[{{"rawProfile":")",
            series_labels(query)),
        R"("}]}]})"};
}

std::string pyroscope_ingest(const Spool::Entry& entry) {
    // Whole seconds, of which there is at least one.
    const uint64_t from = entry.begin_ms / 1'000,
                   until = std::max((entry.begin_ms + entry.length_ms + 999) / 1'000, from + 1);
    return fmt::format("name={}&from={}&until={}&format=pprof&spyName=auger", entry.service, from,
                       until);
}

constexpr std::array protocols = {
    ReceiverProtocol{"otlp", "OpenTelemetry collectors, Pyroscope", "/v1development/profiles",
                     "otlp", "application/x-protobuf", true, true, nullptr, nullptr},
    ReceiverProtocol{"pyroscope", "Pyroscope", "/push.v1.PusherService/Push", "pprof",
                     "application/json", true, false, pyroscope_push, nullptr},
    ReceiverProtocol{"pyroscope-ingest", "what takes Pyroscope's /ingest", "/ingest", "pprof",
                     "application/octet-stream", false, false, nullptr, pyroscope_ingest},
    ReceiverProtocol{"parca", "Parca", "/api/profiles/writeraw", "pprof", "application/json", false,
                     false, parca_write_raw, nullptr},
};

Result<uint64_t> write_enveloped(const ReceiverProtocol& protocol, const Model& model,
                                 const ExportQuery& query, ByteSink& out) {
    const ExportFormat& format = *find_export_format(protocol.format);
    if (!protocol.envelope)
        return format.write(model, query, out);
    const ReceiverProtocol::Envelope envelope = protocol.envelope(query);
    out.write(envelope.head);
    Base64Sink base64(out);
    auto samples = format.write(model, query, base64);
    base64.finish();
    out.write(envelope.tail);
    return samples;
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

std::string request_url(const ReceiverProtocol& protocol, const std::string& receiver,
                        const Spool::Entry& entry) {
    std::string url = receiver;
    while (url.ends_with('/'))
        url.pop_back();
    // Some name the whole of it.
    if (!url.ends_with(protocol.path))
        url += protocol.path;
    return protocol.parameters ? url + "?" + protocol.parameters(entry) : url;
}

Result<uint64_t> write_request_body(const ReceiverProtocol& protocol, const Model& model,
                                    const ExportQuery& query, ByteSink& out) {
    if (!protocol.gzip)
        return write_enveloped(protocol, model, query, out);
    GzipSink compressed(out);
    auto samples = write_enveloped(protocol, model, query, compressed);
    compressed.finish();
    return samples;
}

} // namespace auger
