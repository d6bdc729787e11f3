// SPDX-License-Identifier: GPL-3.0-or-later
// Receivers: engines that store profiles, by the protocol in which they take them. One row is one
// protocol; what goes there is an export's bytes, as they are or in an envelope.
#pragma once

#include "repl/services/spool.h"
#include "views/exports/export.h"

#include <span>
#include <string>
#include <string_view>

namespace auger {

struct ReceiverProtocol {
    struct Envelope { // around the export in base64
        std::string head, tail;
    };

    std::string_view name;   // as `ship` takes it
    std::string_view about;  // who takes it
    std::string_view path;   // behind the receiver's URL
    std::string_view format; // the export's name
    std::string_view content_type;
    bool gzip; // whether a body may be compressed
    bool otlp; // whether answers are OTLP's
    // `query` has service and host. Null: none.
    Envelope (*envelope)(const ExportQuery& query);
    // What of an interval stands in the URL, behind '?'. Null: nothing does.
    std::string (*parameters)(const Spool::Entry& entry);
};

std::span<const ReceiverProtocol> receiver_protocols();
// Null: there is none.
const ReceiverProtocol* find_receiver_protocol(std::string_view name);

// Where an interval is sent.
std::string request_url(const ReceiverProtocol& protocol, const std::string& receiver,
                        const Spool::Entry& entry);

// What is sent; how many samples it holds.
Result<uint64_t> write_request_body(const ReceiverProtocol& protocol, const Model& model,
                                    const ExportQuery& query, ByteSink& out);

} // namespace auger
