// SPDX-License-Identifier: GPL-3.0-or-later
// Reply: what a command answers, as text and as JSON objects, one a line. Both are made harmless
// here: strings of the target are escaped.
#pragma once

#include "loader/base/result.h"
#include "repl/language/complaint.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace auger {

using JsonObject = nlohmann::ordered_json;

// Fields are added within a schema, never removed or given another meaning.
inline constexpr int json_schema = 1;

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

// An Error as a complaint about a part of the line.
Complaint complaint_of(const Error& error, Span at);

} // namespace auger
