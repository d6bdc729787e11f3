// SPDX-License-Identifier: GPL-3.0-or-later
// Reply: what a command answers, as text and as JSON objects, one a line. Both are made harmless
// here: strings of the target are escaped.
#pragma once

#include "loader/backend.h"
#include "repl/language/complaint.h"
#include "repl/session/settings.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace auger {

using JsonObject = nlohmann::ordered_json;

// The object that every reply begins with: {"schema":1,"command":...}.
JsonObject json_reply(std::string_view command);
// One line without a newline, whatever bytes its strings have.
std::string json_line(const JsonObject& object);
// {"schema":1,"command":...,"error":{file,line,column,message,hint}}
std::string json_error(std::string_view command, const Diagnostic& diagnostic);
// The same for what went wrong outside of any line:
// {"schema":1,"command":"","error":{message,hint}}
std::string json_error(const Error& error);

struct Reply {
    std::string text; // lines, each ending in a newline
    std::vector<std::string> json;

    Reply() = default;
    Reply(std::string text, std::string json) : text(std::move(text)), json{std::move(json)} {}
    // One message: text without a newline, and {"message":...} added to `object`.
    static Reply message(std::string text, JsonObject object);
};

// Descriptions for people, without a newline.
std::string describe(const TargetSpec& target);
std::string describe(const FilterSpec& filter);
std::string describe(WayOut way_out);
std::string describe(const IntervalFiles& files);
std::string describe(const Trigger& trigger, const ProbeSetting& probe);
std::string describe(const OverheadLimit& limit);

// For `target`: the processes, one a line, at most `limit` of them.
std::string process_lines(const TargetStatus& status, size_t limit);
JsonObject json_target(const TargetStatus& status);
// For a probe that was added: what matched, what was skipped and why.
std::string report_lines(const ProbeReport& report, size_t limit);
void add_report(JsonObject& object, const ProbeReport& report);
std::string capability_lines(const std::vector<Capability>& capabilities);
JsonObject json_capabilities(const std::vector<Capability>& capabilities);

} // namespace auger
