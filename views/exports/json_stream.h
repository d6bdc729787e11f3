// SPDX-License-Identifier: GPL-3.0-or-later
// JsonStream: JSON that may be larger than memory, written piece by piece. The caller begins and
// ends objects and lists, the stream sets the commas. Values that are small are built with
// nlohmann::json, which has no writer of this kind.
#pragma once

#include "views/exports/byte_sink.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

class JsonStream {
  public:
    // `script`: within a script element of HTML, where "</script>" and "<!--" must not occur.
    enum class Within { file, script };

    explicit JsonStream(ByteSink& out, Within within = Within::file) : out_(out), within_(within) {}

    void begin_object() { begin('{'); }
    void end_object() { end('}'); }
    void begin_list() { begin('['); }
    void end_list() { end(']'); }
    void key(std::string_view name); // of an object; its value, object or list comes next
    // A text from a target, which is escaped (views/escape.h).
    void text(std::string_view raw);
    // Whole as such, others with three digits; null for what is not finite.
    void number(double value);
    void number(uint64_t value);
    void value(const nlohmann::ordered_json& value);
    void texts(const std::vector<std::string>& raw); // a list
    // What comes next begins a line, for whoever reads the file with grep or less.
    void new_line() { new_line_ = true; }

  private:
    void begin(char bracket);
    void end(char bracket);
    void put(std::string_view json); // a whole value
    void separate();

    ByteSink& out_;
    const Within within_;
    bool first_ = true;     // nothing stands in this object or list yet
    bool has_key_ = false;  // the value of a key comes next
    bool new_line_ = false; // is to come before it
};

} // namespace auger
