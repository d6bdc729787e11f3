// SPDX-License-Identifier: GPL-3.0-or-later
// suggest: what to time, for who has no hypothesis yet.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/listing.h"
#include "repl/session/listener_spans.h"
#include "repl/session/marked_spans.h"
#include "repl/session/presets.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr size_t looked_at = 200'000; // samples

struct Suggest final : Command {
    std::optional<size_t> limit;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        const Model& model = session.model();
        const Suggestions suggestions = suggest_functions(model, looked_at);
        auto reply = show(
            session, place,
            [&] {
                return suggest_view(model, session.view_options(limit.value_or(5)), suggestions);
            },
            [&] { return Lines{suggest_json(model, suggestions, limit)}; });
        if (reply && !reply->text.empty())
            reply->text += advice_of_spans(session);
        return reply;
    }

    // What `span auto` would do.
    static std::string advice_of_spans(Session& session) {
        std::string advice = span_advice(session.backend().target_status());
        if (!advice.empty())
            advice += "\n";
        advice += advice_of_marks(session);
        if (!advice.empty() || session.backend().replaying())
            return advice;
        const auto listeners = session.backend().find_listeners();
        if (listeners && !listeners->places.empty())
            advice = listener_advice(*listeners) + "\n";
        return advice;
    }

    static std::string advice_of_marks(Session& session) {
        std::string names;
        if (auto notes = session.backend().find_usdt_probes(marks_pattern))
            for (const MarkedSpan& span : marked_spans(*notes).spans)
                names += (names.empty() ? "" : ", ") + span.name;
        return names.empty()
                   ? names
                   : fmt::format("\"span auto\" times what the program marks: {}\n", names);
    }
};

Parsed<CommandPtr> parse_suggest(Arguments& arguments) {
    auto rows = take_rows(arguments);
    if (!rows)
        return rows.complaint();
    auto command = std::make_unique<Suggest>();
    command->limit = *rows;
    return as_command(std::move(command));
}

} // namespace

CommandRow suggest_command() {
    return {
        .name = "suggest",
        .group = "Views",
        .usage = "suggest [-n ROWS]",
        .summary = "functions worth timing, and the next command",
        .details = R"help(
Functions that do one piece of work and return, such as the handler of a request: the outermost ones
that samples saw return, below main, thread starts and event loops. "returns" counts what two samples
of one thread prove, so there are at least as many. Of the last 200,000 samples; `sample wall` knows
more of them than `sample`, since a thread that waits for work is in none. It also names the spans
that the program marks with auger.h or auger.py, or where it listens, which `span auto`
times.)help",
        .examples = R"help(suggest)help",
        .arguments = {{.words = "-n"}, {}},
        .parse = parse_suggest,
    };
}

} // namespace auger
