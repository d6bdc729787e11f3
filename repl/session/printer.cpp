// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/printer.h"

#include "views/escape.h"

#include <algorithm>

namespace auger {

void Printer::print(const Reply& reply) {
    if (!json_) {
        output_.result(reply.text);
        return;
    }
    std::string lines;
    for (const std::string& line : reply.json)
        lines += line + "\n";
    output_.result(lines);
}

void Printer::report(const Diagnostic& diagnostic, std::string_view command) {
    if (json_)
        output_.result(json_error(escape_untrusted(command), diagnostic) + "\n");
    else
        output_.error(diagnostic.render());
}

void Printer::notice(uint64_t time_ns, std::string_view raw) {
    const std::string text = escape_untrusted(raw);
    if (json_) {
        JsonObject object = json_reply("notice");
        object["time"] = time_ns;
        object["message"] = text;
        output_.result(json_line(object) + "\n");
    } else {
        output_.notice(text + "\n");
    }
}

void Printer::new_notices(const Model& model) {
    const uint64_t received = model.notices_received();
    const auto& kept = model.notices();
    const uint64_t fresh = std::min<uint64_t>(received - notices_shown_, kept.size());
    for (auto each = kept.end() - static_cast<ptrdiff_t>(fresh); each != kept.end(); ++each)
        notice(each->time_ns, each->text);
    notices_shown_ = received;
}

} // namespace auger
