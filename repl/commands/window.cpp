// SPDX-License-Identifier: GPL-3.0-or-later
// window, ewma: the span of time that views show.
#include "repl/commands/commands.h"
#include "repl/language/values.h"
#include "repl/session/edit_command.h"
#include "repl/session/session.h"
#include "views/format.h"
#include "views/spell.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

constexpr SettingRow window_setting{
    .same = same_members<&Settings::window>,
    .spell =
        [](const Settings& settings, std::vector<std::string>& lines) {
            const Window& window = settings.window;
            if (window.kind != Window::Kind::all && window.end_ns == Window{}.end_ns)
                lines.push_back(fmt::format("{} {}",
                                            window.kind == Window::Kind::last ? "window" : "ewma",
                                            spell_duration(window.span_ns)));
        },
};

struct ShowWindow final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace&) const override {
        return Reply::message(fmt::format("window: {}", format_window(session.settings().window,
                                                                      session.model().first_ns())),
                              json_reply("window"));
    }
};

struct SetWindow final : EditCommand {
    Window window;
    std::optional<uint64_t> until_ns; // since observation began; else it goes on to now
    Span until_at;

    Parsed<void> edit(SettingsEdit& edit) const override {
        edit.settings.window = window;
        if (!until_ns)
            return {};
        const EditContext& context = edit.context;
        const uint64_t observed = context.now_ns - context.first_ns;
        // Times are said in whole milliseconds: now may lie within the last of them.
        if (*until_ns >= observed + millisecond_ns)
            return Complaint{
                until_at,
                context.first_ns ? fmt::format("this moment lies ahead: {} have been observed",
                                               spell_duration(observed / 1'000'000 * 1'000'000))
                                 : "nothing has been observed yet",
                "give the time since observation began, as `calls` shows it", Error::Kind::failed};
        edit.settings.window.end_ns = context.first_ns + std::min(*until_ns, observed);
        return {};
    }
    std::string told(const Session& session, const EditOutcome& outcome) const override {
        return fmt::format("window: {}",
                           format_window(outcome.now.window, session.model().first_ns()));
    }
};

Parsed<Window> parse_kind(Arguments& arguments, Window::Kind kind) {
    if (arguments.take_if("all") || (kind == Window::Kind::ewma && arguments.take_if("off")))
        return Window{};
    const Word& word = arguments.take();
    auto span = duration_of(word);
    if (!span)
        return span.complaint();
    if (*span == 0)
        return Complaint{word.span, "nothing happens within 0", "try 10s, or \"window all\"",
                         Error::Kind::usage};
    return Window{kind, *span};
}

Parsed<CommandPtr> parse_span(Arguments& arguments, Window::Kind kind) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowWindow>());
    auto window =
        arguments.peek().text == "until" ? Parsed<Window>(Window{}) : parse_kind(arguments, kind);
    if (!window)
        return window.complaint();
    auto command = std::make_unique<SetWindow>();
    command->window = *window;
    if (!arguments.take_if("until"))
        return as_command(std::move(command));
    auto word = arguments.expect("a time since observation began");
    if (!word)
        return word.complaint();
    auto until = duration_of(*word);
    if (!until)
        return until.complaint();
    if (*until == 0)
        return Complaint{word->span, "nothing was observed before 0", "try 10s",
                         Error::Kind::usage};
    command->until_ns = *until;
    command->until_at = word->span;
    return as_command(std::move(command));
}

Parsed<CommandPtr> parse_window(Arguments& arguments) {
    return parse_span(arguments, Window::Kind::last);
}

Parsed<CommandPtr> parse_ewma(Arguments& arguments) {
    return parse_span(arguments, Window::Kind::ewma);
}

} // namespace

CommandRow window_command() {
    return {
        .name = "window",
        .group = "Sampling",
        .usage = "window [DURATION | all] [until TIME]",
        .summary = "views show only the last DURATION",
        .details = R"help(
With `until`, the window ends at that moment and stays there while more is collected: TIME counts
from the beginning of observation, as `calls` shows it. `window DURATION` follows the present again.
Classes and names are those known now, open calls those of now. A wait counts in the window in which
it ends, with its whole length, so that windows and interval files add up; only the time strip
spreads it over the time that it spanned. Call counts are kept every 0.1 s. When the memory for them
runs short (--store-memory), older ones are added up, and the edges of a window are off by up to a
thousandth of their age.)help",
        .examples = R"help(window 10s
window 5s until 17.5s
window all)help",
        .arguments = {{.words = "10s 1m all"}, {.words = "until"}, {.words = "10s"}, {}},
        .parse = parse_window,
        .settings = {&window_setting},
    };
}

CommandRow ewma_command() {
    return {
        .name = "ewma",
        .group = "Sampling",
        .usage = "ewma [DURATION | off] [until TIME]",
        .summary = "views show everything, fading with this time constant",
        .details = R"help(
What happened DURATION ago counts 1/e of what happens now, however often views are drawn. With `until`
it fades from that moment back, and what came later is not shown. Replaces `window`, and the other
way round.)help",
        .examples = R"help(ewma 10s
ewma 5s until 17.5s
ewma off)help",
        .arguments = {{.words = "10s 1m off"}, {.words = "until"}, {.words = "10s"}, {}},
        .parse = parse_ewma,
    };
}

} // namespace auger
