// SPDX-License-Identifier: GPL-3.0-or-later
// source: the commands of a file are run.
#include "repl/commands/commands.h"
#include "repl/language/file_arguments.h"
#include "repl/session/session.h"
#include "views/escape.h"

namespace auger {
namespace {

struct Source final : Command {
    std::string path;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        auto lines = session.run_file(path, place.at);
        if (!lines)
            return lines.complaint();
        Reply reply; // the file's commands have answered for themselves
        JsonObject object = json_reply(place.name);
        object["file"] = escape_untrusted(path);
        object["lines"] = *lines;
        reply.json = {json_line(object)};
        return reply;
    }
};

Parsed<CommandPtr> parse_source(Arguments& arguments) {
    auto path = parse_path(arguments, "a file");
    if (!path)
        return path.complaint();
    auto command = std::make_unique<Source>();
    command->path = std::move(*path);
    return as_command(std::move(command));
}

} // namespace

CommandRow source_command() {
    return {
        .name = "source",
        .group = "Files",
        .usage = "source FILE",
        .summary = "run the commands of a file",
        .details = R"help(
Stops at the first command that fails.)help",
        .examples = "source setup.aug",
        .arguments = {{.file = true}, {}},
        .parse = parse_source,
    };
}

} // namespace auger
