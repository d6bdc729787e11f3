// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/json_stream.h"

#include "views/exports/json_text.h"

#include <nlohmann/json.hpp>

namespace auger {

void JsonStream::separate() {
    if (!has_key_ && !first_)
        out_.write(",");
    if (!has_key_ && new_line_)
        out_.write("\n");
    has_key_ = first_ = new_line_ = false;
}

void JsonStream::begin(char bracket) {
    separate();
    out_.write({&bracket, 1});
    first_ = true;
}

void JsonStream::end(char bracket) {
    if (new_line_)
        out_.write("\n");
    out_.write({&bracket, 1});
    first_ = new_line_ = false;
}

void JsonStream::put(std::string_view json) {
    separate();
    if (within_ == Within::file)
        return out_.write(json);
    for (size_t at; (at = json.find('<')) != json.npos; json.remove_prefix(at + 1)) {
        out_.write(json.substr(0, at));
        out_.write("\\u003c"); // it occurs in strings alone
    }
    out_.write(json);
}

void JsonStream::key(std::string_view name) {
    put(json_text(name));
    out_.write(":");
    has_key_ = true;
}

void JsonStream::text(std::string_view raw) {
    put(json_text(raw));
}

void JsonStream::number(double value) {
    put(json_number(value));
}

void JsonStream::number(uint64_t value) {
    put(std::to_string(value));
}

void JsonStream::value(const nlohmann::ordered_json& value) {
    // Text that was not escaped is no reason to end auger.
    put(value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void JsonStream::texts(const std::vector<std::string>& raw) {
    begin_list();
    for (const std::string& one : raw)
        text(one);
    end_list();
}

} // namespace auger
