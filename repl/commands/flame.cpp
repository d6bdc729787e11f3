// SPDX-License-Identifier: GPL-3.0-or-later
// flame: where the time goes, as a tree of calls.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/sample_selection.h"
#include "views/exports/collapsed.h"

namespace auger {
namespace {

struct Flame final : Command {
    SampleSelection query;
    bool folded = false;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place, query.filter))
            return *complaint;
        const Model& model = session.model();
        const Window window = session.settings().window;
        if (folded) {
            Reply reply;
            reply.text = collapsed_stacks(model, ExportQuery{query, window});
            JsonObject object = json_reply(place.name);
            object["folded"] = reply.text;
            reply.json.push_back(json_line(object));
            return reply;
        }
        return show(
            session, place,
            [&] {
                return flame_view(model, session.view_options(), query.filter, query.by,
                                  query.under, query.frames);
            },
            [&] {
                return Lines{
                    flame_json(model, window, query.filter, query.by, query.under, query.frames)};
            });
    }
};

Parsed<CommandPtr> parse_flame(Arguments& arguments) {
    auto command = std::make_unique<Flame>();
    auto query = parse_sample_selection(arguments, [&]() -> Parsed<bool> {
        const bool taken = arguments.take_if("--folded");
        command->folded = command->folded || taken;
        return taken;
    });
    if (!query)
        return query.complaint();
    command->query = std::move(*query);
    return as_command(std::move(command));
}

} // namespace

CommandRow flame_command() {
    return {
        .name = "flame",
        .letter = "f",
        .group = "Views",
        .usage = "flame [CLASS] [by KEY] [under FUNCTION] [--language | --native] [--folded]",
        .summary = "where the time goes, as a tree of calls",
        .details = R"help(
CLASS ("help classes") shows samples of one class; without it, all, with the number of each class.
`by KEY` groups the first level by process (the default), comm (thread name), tid, cgroup (of the
process when its program was first seen), cpu (of a wait: where it ended), host (also: machine), task (of an
event loop of Python's, after `sample tasks`), coroutine (what tasks run, so that those of one
function are one) or golabel (a pprof label of Go's goroutines, after `sample golabel KEY`). `under FUNCTION` shows what happens in that function, without its callers; under
"route;fetch": in calls of fetch that route makes. --language shows only functions of Python, PHP,
Ruby, Perl, Java and JavaScript, and of other code generated at run time, --native only those of
programs, libraries and the kernel; the time of frames left out counts for the caller that is shown,
or else for the group. Such a function has its file and the lines sampled in it: handler app.py:42-57.
--folded prints collapsed stacks, one a line, for flame graph tools (with --json: as one string,
"folded").)help",
        .examples = R"help(flame
flame slow
flame slow+taken
flame 10ms..50ms
flame by comm
flame by cgroup
flame by task
flame by coroutine
flame by golabel
flame under handle
flame under "route;fetch"
flame --language
flame slow --folded)help",
        .arguments = {{.words = "slow fast open outside taken not-taken all by under --language "
                                "--native --folded"},
                      {.words = "by under --language --native --folded"},
                      {.after = "by", .words = group_words()},
                      {.after = "under", .function = true}},
        .parse = parse_flame,
    };
}

} // namespace auger
