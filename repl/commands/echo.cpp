// SPDX-License-Identifier: GPL-3.0-or-later
// echo: prints a text.
#include "repl/commands/commands.h"
#include "views/escape.h"

namespace auger {
namespace {

struct Echo final : Command {
    std::string text;

    Parsed<Reply> run(Session&, const CommandPlace& place) const override {
        return Reply::message(escape_untrusted(text), json_reply(place.name));
    }
};

Parsed<CommandPtr> parse_echo(Arguments& arguments) {
    auto command = std::make_unique<Echo>();
    for (bool first = true; !arguments.at_end(); first = false)
        command->text += (first ? "" : " ") + arguments.take().text;
    return as_command(std::move(command));
}

} // namespace

CommandRow echo_command() {
    return {
        .name = "echo",
        .group = "Scripts",
        .usage = "echo [TEXT...]",
        .summary = "print a text",
        .examples = "echo \"before the split\"",
        .arguments = {{}},
        .parse = parse_echo,
    };
}

} // namespace auger
