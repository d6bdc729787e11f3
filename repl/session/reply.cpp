// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/reply.h"

#include "views/escape.h"

#include <fmt/format.h>

namespace auger {

JsonObject json_reply(std::string_view command) {
    return {{"schema", json_schema}, {"command", command}};
}

std::string json_line(const JsonObject& object) {
    return object.dump(-1, ' ', false, JsonObject::error_handler_t::replace);
}

std::string json_error(std::string_view command, const Diagnostic& diagnostic) {
    JsonObject object = json_reply(command);
    object["error"] = {{"file", escape_untrusted(diagnostic.line.name)},
                       {"line", diagnostic.line.number},
                       {"column", diagnostic.column()},
                       {"message", escape_untrusted(diagnostic.complaint.message)},
                       {"hint", escape_untrusted(diagnostic.complaint.hint)}};
    return json_line(object);
}

std::string json_error(const Error& error) {
    Error without_hint = error;
    without_hint.hint.clear();
    JsonObject object = json_reply("");
    object["error"] = {{"message", escape_untrusted(without_hint.message())},
                       {"hint", escape_untrusted(error.hint)}};
    return json_line(object);
}

Reply Reply::message(std::string text, JsonObject object) {
    object["message"] = text;
    return {text + "\n", json_line(object)};
}

Complaint complaint_of(const Error& error, Span at) {
    Error without_hint = error;
    without_hint.hint.clear();
    return {at, without_hint.message(), error.hint, error.kind};
}

} // namespace auger
