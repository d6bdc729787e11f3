// SPDX-License-Identifier: GPL-3.0-or-later
// quit: auger ends.
#include "repl/commands/commands.h"
#include "repl/session/session.h"

namespace auger {
namespace {

struct Quit final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace&) const override {
        session.quit();
        Reply reply;
        reply.json = {json_line(json_reply("quit"))};
        return reply;
    }
};

Parsed<CommandPtr> parse_quit(Arguments&) {
    return as_command(std::make_unique<Quit>());
}

} // namespace

CommandRow quit_command() {
    return {
        .name = "quit",
        .letter = "q",
        .group = "Session",
        .usage = "quit",
        .summary = "end auger; nothing stays attached",
        .arguments = {{}},
        .parse = parse_quit,
    };
}

} // namespace auger
