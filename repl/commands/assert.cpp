// SPDX-License-Identifier: GPL-3.0-or-later
// assert: fails unless something holds.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/condition.h"
#include "repl/session/evaluate.h"

#include <fmt/format.h>

namespace auger {
namespace {

struct Assert final : Command {
    Condition condition;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto ready = session.prepare_view(); !ready)
            return complaint_of(ready.error(), condition.at);
        auto value = value_of(session, condition.quantity, condition.at);
        if (!value)
            return value.complaint();
        const std::string spelled = format_quantity(condition.quantity, *value);
        if (!condition.holds(*value))
            return Complaint{
                condition.at,
                fmt::format("\"{}\" does not hold: it is {}", condition.spelled, spelled), "",
                Error::Kind::failed};
        JsonObject object = json_reply(place.name);
        object["condition"] = condition.spelled;
        object["value"] = *value;
        return Reply::message(fmt::format("holds: {} ({})", condition.spelled, spelled),
                              std::move(object));
    }
};

Parsed<CommandPtr> parse_assert(Arguments& arguments) {
    auto condition = parse_condition(arguments);
    if (!condition)
        return condition.complaint();
    auto command = std::make_unique<Assert>();
    command->condition = std::move(*condition);
    return as_command(std::move(command));
}

} // namespace

CommandRow assert_command() {
    return {
        .name = "assert",
        .group = "Scripts",
        .usage = "assert QUANTITY COMPARISON VALUE",
        .summary = "fail unless something holds",
        .details = R"help(
COMPARISON is one of < <= > >= == !=, with blanks around it. QUANTITY is one of
  calls PROBE              calls that returned (also: count)
  entries | unwound | open | dropped | filtered PROBE
  taken | not-taken PROBE  returned calls by the split's branch, as counted
  slow PROBE               calls traced by `slow`
  min | max | mean PROBE   a duration: 5ms
  p50 ... p99.9 PROBE      a duration
  samples [CLASS]          samples, all or of a class of the split
  share [CLASS] FUNCTION   part of the time with FUNCTION on the stack: 50%
  diff FUNCTION            extra time of slow calls in FUNCTION, per call: 1ms
  gated                    samples and slow calls that `only` or a raised rate kept back
  lost [CAUSE]             events lost; "status" lists the causes
  rate                     samples a second achieved
  exited                   every process of the target has ended (stands alone)
All but rate, gated, lost and exited follow `window`.)help",
        .examples = R"help(assert p99 handle < 5ms
assert lost == 0
assert share slow parse > 50%
assert samples slow+taken > 0
assert taken handle == 5312)help",
        .arguments = {{.words = quantity_words}, {.probe = true}, {.words = comparison_words}, {}},
        .parse = parse_assert,
    };
}

} // namespace auger
