// SPDX-License-Identifier: GPL-3.0-or-later
// help: the list of commands, or more on one.
#include "repl/commands/commands.h"
#include "repl/commands/help_topics.h"
#include "repl/commands/table.h"
#include "repl/session/help_text.h"
#include "repl/session/session.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

const HelpTopic* find_topic(std::string_view name) {
    const auto topics = help_topics();
    const auto found = std::ranges::find(topics, name, &HelpTopic::name);
    return found == topics.end() ? nullptr : &*found;
}

// Of completion, and behind the list of commands.
const std::string& topic_names() {
    static const std::string names = [] {
        std::string text;
        for (const HelpTopic& topic : help_topics())
            text += (text.empty() ? "" : " ") + std::string(topic.name);
        return text;
    }();
    return names;
}

struct Help final : Command {
    const CommandRow* command = nullptr;
    const HelpTopic* topic = nullptr; // neither: the list

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        const size_t width = std::clamp<size_t>(session.options().view.width, 40, help_width);
        std::string text;
        if (command)
            text = help_text(*command, width);
        else if (topic)
            text = fmt::format("{} - {}\n\n{}\n", topic->name, topic->summary,
                               wrap_help(topic->text, width));
        else
            text =
                fmt::format("{}Topics: {}\n", help_text(session.commands(), width), topic_names());
        JsonObject object = json_reply(place.name);
        object["text"] = text;
        return Reply(std::move(text), json_line(object));
    }
};

Parsed<CommandPtr> parse_help(Arguments& arguments) {
    auto help = std::make_unique<Help>();
    if (arguments.at_end())
        return as_command(std::move(help));
    help->topic = find_topic(arguments.peek().text);
    if (!help->topic) {
        auto row = command_table().find(arguments.peek());
        if (!row)
            return row.complaint();
        help->command = *row;
    }
    arguments.take();
    return as_command(std::move(help));
}

} // namespace

CommandRow help_command() {
    return {
        .name = "help",
        .letter = "h",
        .group = "Session",
        .usage = "help [COMMAND | TOPIC]",
        .summary = "the commands, or more on one of them or a topic",
        .examples = R"help(help
help split
help workflow)help",
        .arguments = {{.command = true, .words = topic_names()}, {}},
        .parse = parse_help,
    };
}

} // namespace auger
