// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/list_tracepoints.h"

#include "repl/commands/showing.h"
#include "views/escape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {
namespace {

constexpr size_t tracepoint_rows = 600;
constexpr size_t widest_name = 44;

struct ListTracepoints final : Command {
    std::string pattern; // CATEGORY:NAME
    Span at{};           // of what was typed

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        const auto found = session.backend().list_tracepoints(pattern);
        if (!found)
            return complaint_of(found.error(), at);
        const std::vector<TracepointInfo>& all = found->tracepoints;
        Reply reply;
        reply.text = fmt::format("{} tracepoint{}\n", all.size(), all.size() == 1 ? "" : "s");
        size_t width = 0, shown = 0;
        for (const TracepointInfo& one : all)
            width = std::max(width, std::min(name_of(one).size(), widest_name));
        JsonObject rows = JsonObject::array();
        for (const TracepointInfo& one : all) {
            rows.push_back(row_of(one));
            if (shown++ < tracepoint_rows)
                reply.text += fmt::format("  {:<{}}  {}\n", name_of(one), width, fields_of(one));
        }
        if (shown > tracepoint_rows)
            reply.text += fmt::format("  ... and {} more; a pattern narrows them down\n",
                                      shown - tracepoint_rows);
        reply.text += fmt::format("  \"time tracepoint:{}\" counts how often one is hit\n",
                                  name_of(all.front()));
        JsonObject object = json_reply(place.name);
        object["pattern"] = escape_untrusted(pattern);
        object["tracepoints"] = std::move(rows);
        reply.json = {json_line(object)};
        return reply;
    }

  private:
    static std::string name_of(const TracepointInfo& one) {
        return escape_untrusted(fmt::format("{}:{}", one.category, one.name));
    }
    static std::string fields_of(const TracepointInfo& one) {
        std::string text = one.fault.empty() ? "" : "(" + one.fault + ")";
        for (const TracepointInfo::Field& field : one.fields)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.type, field.name);
        return escape_untrusted(text.empty() ? "(no fields)" : text);
    }
    static JsonObject row_of(const TracepointInfo& one) {
        JsonObject fields = JsonObject::array();
        for (const TracepointInfo::Field& field : one.fields)
            fields.push_back(
                {{"name", escape_untrusted(field.name)}, {"type", escape_untrusted(field.type)}});
        JsonObject row{{"category", escape_untrusted(one.category)},
                       {"name", escape_untrusted(one.name)}};
        row["fields"] = std::move(fields);
        row["ends_at"] =
            one.ends_at.empty() ? JsonObject() : JsonObject(escape_untrusted(one.ends_at));
        return row;
    }
};

// "sys_enter_*" is of any category.
std::string whole_tracepoint(std::string text) {
    constexpr std::string_view prefix = "tracepoint:";
    if (text.starts_with(prefix))
        text.erase(0, prefix.size());
    return text.find(':') == text.npos ? "*:" + text : text;
}

} // namespace

Parsed<CommandPtr> parse_list_tracepoints(Arguments& arguments, Span at) {
    auto command = std::make_unique<ListTracepoints>();
    command->at = at;
    command->pattern = "*:*";
    if (!arguments.at_end()) {
        const Word word = arguments.take();
        command->at = word.span;
        command->pattern = whole_tracepoint(word.text);
    }
    return as_command(std::move(command));
}

} // namespace auger
