// SPDX-License-Identifier: GPL-3.0-or-later
// Receivers: engines that store profiles, by the protocol in which they take them. One row is one
// protocol; what goes there is an export's bytes, as they are or in an envelope.
#pragma once

#include "loader/http/http_post.h"
#include "repl/services/spool.h"
#include "views/exports/export.h"
#include "views/exports/profile_size.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace auger {

// What an answer means for the interval that was sent.
enum class Fate {
    shipped,
    refused,  // for good
    busy,     // the receiver takes none now
    doubtful, // there is something wrong there, or with this interval
};

struct ReceiverProtocol {
    struct Limits { // of one profile; see ProfileSize
        uint64_t entries, bytes;
    };

    std::string_view name;  // as `ship` takes it
    std::string_view about; // who takes it
    std::string_view path;  // behind the receiver's URL
    std::string_view content_type;
    bool gzip; // whether a body may be compressed
    bool otlp; // whether answers are OTLP's
    // Statuses of HTTP at which an interval is sent again: the receiver has too much to do, or is
    // not there; and those that may be of this interval alone.
    std::span<const uint32_t> busy, doubtful;
    // Of one profile what receivers take, unless they are told otherwise. An interval that has more
    // is sent in parts, which are so long at least.
    Limits most;
    uint64_t least_part_ns;
    // Returns the size of the largest profile in it, and the samples of all.
    ProfileSize (*write)(const Model&, const ExportQuery& query, ByteSink&);
    // What of an interval stands in the URL, behind '?'. Null: nothing does.
    std::string (*parameters)(const Spool::Entry& entry);
    // Whether it has one service for all, which is named by its URL or by who ships.
    bool one_service;
};

std::span<const ReceiverProtocol> receiver_protocols();
// Null: there is none.
const ReceiverProtocol* find_receiver_protocol(std::string_view name);

// `with_headers`: of a file, which may hold other ones the next time. Status 0: no answer.
Fate fate_of(const ReceiverProtocol& protocol, uint32_t status, bool with_headers);

// Sends an interval, but for the headers that a user adds.
HttpPost make_request(const ReceiverProtocol& protocol, const std::string& receiver,
                      const Spool::Entry& entry);

// What is sent; see ReceiverProtocol::write.
ProfileSize write_request_body(const ReceiverProtocol& protocol, const Model& model,
                               const ExportQuery& query, ByteSink& out);
// Whether that is more than who takes it does at once.
bool is_too_large(const ReceiverProtocol& protocol, const ProfileSize& size);

} // namespace auger
