// SPDX-License-Identifier: GPL-3.0-or-later
// Exports: what was collected, in the forms that other tools read. One row of export_formats() is
// one format; each is written by a file of its own.
#pragma once

#include "loader/base/result.h"
#include "views/exports/byte_sink.h"
#include "views/model/fold.h"
#include "views/shipping_status.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// What of the model.
struct ExportQuery : SampleSelection {
    Window window;
    // Of each thread a sample every so long, of equal weights, instead of those that were taken;
    // 0: those. In formats that tell samples apart.
    uint64_t every_ns = 0;
    // By cause: losses that are not this export's, because they were before its time.
    std::map<std::string, uint64_t> lost_before{};
    // Of its samples, those that have left the store; nothing: that is told of the session's.
    std::optional<uint64_t> evicted{};
    // Whether `otlp` and `pprof` tell threads apart (stores make a series of each); and of `otlp`
    // what the service is called, empty: as its processes, and its host, empty: as the stream has
    // it.
    bool threads = true;
    std::string service{}, host{};
    // Of who exports, for metrics.
    std::vector<ShippingStatus> shipping{}; // of each receiver
};

struct ExportFormat {
    std::string_view name;       // as `--format` takes it
    std::string_view extensions; // of files, separated by spaces; the first is the usual one
    std::string_view holds;      // "stacks", "slow calls", ...: what is counted of it
    std::string_view about;
    // Returns how many of them there are.
    Result<uint64_t> (*write)(const Model&, const ExportQuery&, ByteSink&);
};

std::span<const ExportFormat> export_formats();
// By name. Null: there is none.
const ExportFormat* find_export_format(std::string_view name);
// By a file's extension, the longest that fits. Null: none does.
const ExportFormat* export_format_of_file(std::string_view path);

// What is known to be missing in what is exported, a sentence each: "lost: 12 samples: event
// ring full". Every format has a place for them.
std::vector<std::string> export_losses(const Model&, const ExportQuery& query = {});
// The rules that made the names and frames in it what they are, as commands: "rule: fold
// recursion". Whatever has any says so, too.
std::vector<std::string> export_rules(const Model&);
// Both.
std::vector<std::string> export_notes(const Model&, const ExportQuery& query = {});

} // namespace auger
