// SPDX-License-Identifier: GPL-3.0-or-later
// wait: time passes, until a condition holds.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/condition.h"
#include "repl/language/values.h"
#include "repl/session/evaluate.h"
#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

constexpr uint64_t longest_step_ns = 100'000'000; // between looks at conditions

struct Wait final : Command {
    std::optional<Condition> until;   // else for `duration_ns`
    uint64_t duration_ns = 0;         // without a condition
    std::optional<uint64_t> limit_ns; // of waiting for the condition

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        Backend& backend = session.backend();
        if (auto begun = session.begin_wait(); !begun)
            return complaint_of(begun.error(), place.at);
        const uint64_t start = backend.now_ns();
        const uint64_t limit = until ? limit_ns.value_or(UINT64_MAX - start) : duration_ns;
        const uint64_t end = start + std::min(limit, UINT64_MAX - start);
        bool ended = false;
        std::string spelled; // the value of the condition's quantity
        while (true) {
            auto holds = look(session, place, ended, spelled);
            if (!holds)
                return holds.complaint();
            if (*holds)
                break;
            const uint64_t now = backend.now_ns();
            if (ended || now >= end) {
                if (!until)
                    break;
                return not_come_true(ended, limit, spelled);
            }
            auto more =
                session.step(std::chrono::nanoseconds(std::min(end - now, longest_step_ns)));
            if (!more)
                return complaint_of(more.error(), place.at);
            ended = !*more;
        }
        if (!until) {
            if (auto refreshed = backend.refresh(); !refreshed)
                return complaint_of(refreshed.error(), place.at);
        }
        if (backend.replaying())
            session.editor().adopt_recorded();
        const uint64_t waited = backend.now_ns() - start;
        JsonObject object = json_reply(place.name);
        object["waited"] = waited;
        object["ended"] = ended;
        std::string text = fmt::format("waited {}", format_duration(static_cast<double>(waited)));
        if (until)
            text += fmt::format(": {} ({})", until->spelled, spelled);
        else if (ended)
            text += ": nothing more will come";
        return Reply::message(std::move(text), std::move(object));
    }

  private:
    // Whether the condition holds now.
    Parsed<bool> look(Session& session, const CommandPlace& place, bool ended,
                      std::string& spelled) const {
        if (!until)
            return false;
        if (auto refreshed = session.backend().refresh(); !refreshed)
            return complaint_of(refreshed.error(), place.at);
        const Quantity& quantity = until->quantity;
        auto value = value_of(session, quantity, until->at);
        if (value) {
            spelled = format_quantity(quantity, *value);
            return until->holds(*value);
        }
        // What has no value yet (no call has returned) may have one later; a mistake has not.
        if (ended || (quantity.of_probe() && !shown_probe(session, *quantity.probe)))
            return value.complaint();
        spelled = "unknown: " + value.complaint().message;
        return false;
    }

    Complaint not_come_true(bool ended, uint64_t limit, const std::string& spelled) const {
        return {until->at,
                ended ? fmt::format("\"{}\" cannot come true any more: it is {}, and nothing more "
                                    "will come",
                                    until->spelled, spelled)
                      : fmt::format("\"{}\" has not come true within {}: it is {}", until->spelled,
                                    spell_duration(limit), spelled),
                "", Error::Kind::failed};
    }
};

Parsed<CommandPtr> parse_duration(Arguments& arguments) {
    if (arguments.at_end())
        return arguments.missing("a duration, or \"until\" and a condition");
    arguments.take_if("for");
    if (arguments.at_end())
        return arguments.missing("a duration");
    const Word& word = arguments.take();
    auto duration = duration_of(word);
    if (!duration) {
        Complaint complaint = duration.complaint();
        for (const std::string& name : quantity_names()) {
            if (word.text == name)
                complaint.hint = fmt::format("write wait until {} ...", name);
        }
        return complaint;
    }
    auto command = std::make_unique<Wait>();
    command->duration_ns = *duration;
    return as_command(std::move(command));
}

Parsed<CommandPtr> parse_wait(Arguments& arguments) {
    if (!arguments.take_if("until"))
        return parse_duration(arguments);
    auto condition = parse_condition(arguments);
    if (!condition)
        return condition.complaint();
    auto command = std::make_unique<Wait>();
    command->until = std::move(*condition);
    if (arguments.take_if("for")) {
        if (arguments.at_end())
            return arguments.missing("the longest time to wait");
        auto limit = duration_of(arguments.take());
        if (!limit)
            return limit.complaint();
        command->limit_ns = *limit;
    }
    return as_command(std::move(command));
}

} // namespace

CommandRow wait_command() {
    return {
        .name = "wait",
        .letter = "w",
        .group = "Scripts",
        .usage = "wait DURATION   or   wait until CONDITION [for DURATION]",
        .summary = "let time pass",
        .details = R"help(
A target given as -- COMMAND runs from the first wait on. With `for`, fails when the condition does
not hold in time. Ctrl-C interrupts it. "help assert" explains conditions.)help",
        .examples = R"help(wait 5s
wait until calls handle >= 1000
wait until slow handle >= 5 for 30s
wait until exited)help",
        .arguments = {{.words = "until 1s 5s 10s"},
                      {.words = quantity_words},
                      {.probe = true},
                      {.words = comparison_words},
                      {},
                      {.words = "for"},
                      {}},
        .parse = parse_wait,
    };
}

} // namespace auger
