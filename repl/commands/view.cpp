// SPDX-License-Identifier: GPL-3.0-or-later
// view: the live view is opened, by whoever has the terminal.
#include "repl/commands/commands.h"
#include "repl/session/session.h"
#include "views/screen/screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {
namespace {

struct View final : Command {
    std::string pane; // empty: the one shown last

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        const bool json = session.options().json;
        if (!session.view_possible() || json)
            return Complaint{place.at,
                             json ? "the view is for people: --json has none"
                                  : "the view needs a terminal, and a prompt to leave to",
                             "flame, diff, hist, calls and top print what it shows",
                             Error::Kind::failed};
        session.ask_for_view(pane);
        return Reply{};
    }
};

Parsed<CommandPtr> parse_view(Arguments& arguments) {
    auto command = std::make_unique<View>();
    if (arguments.at_end())
        return as_command(std::move(command));
    const Word& word = arguments.take();
    const auto names = Screen::pane_names();
    if (std::ranges::find(names, word.text) == names.end())
        return Complaint{word.span, fmt::format("the view has no pane \"{}\"", word.text),
                         fmt::format("one of: {}", fmt::join(names, ", ")), Error::Kind::usage};
    command->pane = word.text;
    return as_command(std::move(command));
}

std::string_view pane_words() {
    static const std::string words = fmt::format("{}", fmt::join(Screen::pane_names(), " "));
    return words;
}

} // namespace

CommandRow view_command() {
    return {
        .name = "view",
        .group = "Views",
        .usage = "view [PANE]",
        .summary = "the live view: all of the terminal, single keys, ? lists them",
        .details = R"help(
Opens the pane that was shown last, or PANE. Collecting goes on as it is. Every key runs a command of
this list, which is shown at the bottom and kept in the history. q and Ctrl-C return to the prompt,
where everything goes on; while a command runs or is typed, Ctrl-C ends that instead. Ctrl-Z
suspends auger. NO_COLOR=1 turns colours off. `overhead` in the status line is auger's own CPU time
and what samples, waits and probes take of the target's threads, as a share of one CPU; the command
`overhead` tells how much of the target's own CPU time that is, by cause.)help",
        .examples = R"help(view
view flame)help",
        .arguments = {{.words = pane_words()}, {}},
        .parse = parse_view,
    };
}

} // namespace auger
