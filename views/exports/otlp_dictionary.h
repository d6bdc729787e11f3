// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of an OpenTelemetry message about profiles: what samples refer to by index. Each entry
// is there once, and index 0 of each table is the entry without any content, as it has to be.
#pragma once

#include "views/exports/numbered_strings.h"
#include "views/exports/summed_samples.h"

#include <protozero/pbf_writer.hpp>

namespace auger {

class OtlpDictionary {
  public:
    explicit OtlpDictionary(const SymbolTables& symbols) : symbols_(symbols) {}

    // Text from a target may be given as it came. Indices, each of its table:
    int32_t string(std::string_view raw);
    int32_t stack(std::span<const ExportedFrame> frames);
    // 0, which is none, where there is no text.
    int32_t attribute(std::string_view key, std::string_view raw);
    int32_t attribute(std::string_view key, std::span<const std::string> raw);

    // To a span; 0, which is none, where the span is not known.
    int32_t link(const TraceLink& link);

    // Once everything is in it.
    void write(protozero::pbf_writer& data) const;

  private:
    int32_t location(std::span<const ExportedFrame> lines);
    int32_t function(const FrameEntry& entry);
    int32_t mapping(const ModuleInfo& module);

    const SymbolTables& symbols_;
    // Entries as they are written.
    NumberedStrings strings_, mappings_, functions_, locations_, stacks_, attributes_, links_;
    std::map<LocationLines, int32_t> known_locations_;
};

// A value of an attribute. It is a string whatever it is of, since that is what all receivers take.
void put_otlp_text(protozero::pbf_writer& owner, uint32_t field, std::string_view raw);
// Those that there are.
void put_otlp_attributes(protozero::pbf_writer& owner, uint32_t field,
                         std::vector<int32_t> attributes);

} // namespace auger
