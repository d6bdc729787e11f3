// SPDX-License-Identifier: GPL-3.0-or-later
// diff: what slow calls do that fast ones do not.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/listing.h"
#include "repl/language/stack_arguments.h"

namespace auger {
namespace {

struct Diff final : Command {
    ClassFilter first = CallClass::slow;
    ClassFilter second = CallClass::fast;
    FrameChoice frames = FrameChoice::all;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        const Model& model = session.model();
        return show(
            session, place,
            [&] { return diff_view(model, session.view_options(), first, second, frames); },
            [&] {
                return one(diff_json(model, session.settings().window, first, second, frames));
            });
    }
};

// A class; `others` are the same on all other hosts.
Parsed<ClassFilter> parse_second(Arguments& arguments, const ClassFilter& first) {
    const size_t at = arguments.position();
    if (!arguments.take_if("others"))
        return parse_class(arguments);
    if (!first.host)
        return Complaint{arguments.span_of(at), "others than which host?",
                         "write diff host=web1 others", Error::Kind::usage};
    ClassFilter others = first;
    others.host->others = !others.host->others;
    return others;
}

Parsed<CommandPtr> parse_diff(Arguments& arguments) {
    auto command = std::make_unique<Diff>();
    if (auto chosen = take_frame_choice(arguments, command->frames); !chosen)
        return chosen.complaint();
    if (arguments.at_end())
        return as_command(std::move(command));
    const size_t first_at = arguments.position();
    auto first = parse_class(arguments);
    if (!first)
        return first.complaint();
    arguments.take_if("-");
    const size_t second_at = arguments.position();
    auto second = parse_second(arguments, *first);
    if (!second)
        return second.complaint();
    for (const auto& [filter, at] : {std::pair{*first, first_at}, std::pair{*second, second_at}}) {
        if (filter.in)
            return Complaint{
                arguments.span_of(at), "calls are compared, and a call has many stacks",
                "\"only in py:FUNCTION\" compares what calls do there", Error::Kind::usage};
        if (filter.all() || filter.duration == CallClass::open ||
            filter.duration == CallClass::outside)
            return Complaint{arguments.span_of(at), "only ended calls can be compared, per call",
                             "write diff slow fast, or diff taken not-taken", Error::Kind::usage};
    }
    if (*first == *second)
        return Complaint{arguments.span_of(second_at), "this compares a class with itself",
                         "write diff slow fast", Error::Kind::usage};
    if (!first->excludes(*second))
        return Complaint{arguments.since(first_at), "a call can be in both of these",
                         "compare classes that exclude each other: diff slow fast",
                         Error::Kind::usage};
    command->first = std::move(*first);
    command->second = std::move(*second);
    if (auto chosen = take_frame_choice(arguments, command->frames); !chosen)
        return chosen.complaint();
    return as_command(std::move(command));
}

} // namespace

CommandRow diff_command() {
    return {
        .name = "diff",
        .group = "Views",
        .usage = "diff [CLASS CLASS] [--language | --native]",
        .summary = "what slow calls do that fast ones do not, per call",
        .details = R"help(
Compares per call, since slow calls have more samples just by being longer. Each difference has its
95 % confidence interval. Which differences are significant is decided by a permutation test over
calls (exact where they are few) at a false discovery rate of 5 %; those that may be chance are
marked with ?, and with how many more calls would settle it. `rest` is a function's difference
without that of the callee that has most of it: the larger, the closer to the cause; it is not self
time. Any two classes that exclude each other can be compared; the number of calls in a combined
class is an estimate. Needs a split. Of several hosts `host=NAME` is one, host!=NAME all others, and
`others` behind the former stands for the latter.

With `--language` only functions of an interpreter's or virtual machine's language are compared, with
`--native` only others: what runs in other frames counts as the nearest such function around it.)help",
        .examples = R"help(diff slow fast
diff slow fast --language
diff taken not-taken
diff slow+taken slow+not-taken
diff =3 =7
diff host=web3 others
diff slow+host=web3 others)help",
        .arguments = {{.words = "slow fast taken not-taken --language --native"},
                      {.words = "slow fast taken not-taken others"},
                      {.words = "--language --native"}},
        .parse = parse_diff,
    };
}

} // namespace auger
