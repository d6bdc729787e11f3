// SPDX-License-Identifier: GPL-3.0-or-later
// overhead: what observing takes of the target's CPU time, and may take.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/values.h"
#include "repl/session/edit_command.h"

#include <fmt/format.h>

namespace auger {
namespace {

std::string describe(const OverheadLimit& limit) {
    return limit.brakes
               ? fmt::format("observing may take {:g} % of the target's CPU time; it is said from "
                             "{:g} % on",
                             limit.percent, limit.warn_percent())
               : fmt::format("observing may take any share of the target's CPU time; it is said "
                             "from {:g} % on",
                             limit.warn_percent());
}

constexpr SettingRow overhead_setting{
    .order = SettingRow::Order::before_probes,
    .same = same_members<&Settings::overhead>,
    .spell =
        [](const Settings& settings, std::vector<std::string>& lines) {
            const OverheadLimit& limit = settings.overhead;
            if (!(limit == OverheadLimit()))
                lines.push_back(limit.brakes ? fmt::format("overhead {:g}", limit.percent)
                                             : "overhead off");
        },
};

struct ShowOverhead final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        const StatusContext context = session.status_context();
        return show(
            session, place,
            [&] { return overhead_view(session.model(), session.view_options(), context); },
            [&] { return Lines{overhead_json(session.model(), context)}; });
    }
};

struct SetOverhead final : EditCommand {
    OverheadLimit limit;

    Parsed<void> edit(SettingsEdit& edit) const override {
        edit.settings.overhead = limit;
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return describe(outcome.now.overhead);
    }
};

Parsed<CommandPtr> parse_overhead(Arguments& arguments) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowOverhead>());
    auto command = std::make_unique<SetOverhead>();
    if (arguments.take_if("off")) {
        command->limit.brakes = false;
        return as_command(std::move(command));
    }
    const Word& word = arguments.take();
    const auto percent = read_percent(word.text.ends_with('%') ? word.text : word.text + "%");
    if (!percent || !(*percent > 0) || *percent > 100)
        return Complaint{word.span, fmt::format("\"{}\" is not a share", word.text),
                         "percent of the target's CPU time, above 0 to 100; \"overhead off\" only "
                         "warns",
                         Error::Kind::usage};
    command->limit.percent = *percent;
    return as_command(std::move(command));
}

} // namespace

CommandRow overhead_command() {
    return {
        .name = "overhead",
        .group = "Sampling",
        .usage = "overhead [PERCENT | off]",
        .summary = "how much of the target's CPU time observing may take (50)",
        .details = R"help(
Without an argument, shows the shares of the last second by cause: samples, the sampling clocks of
threads at context switches, waits, each probe, lines of `split` and `only`. Samples and waits are
measured. The others are estimated: switches, and hits in any process, times the cost of one as
measured on this machine.

After three seconds in a row above PERCENT, the most expensive cause is reduced until the rest fits:
a rate is halved (not below 1 Hz; waits get a rate of their own, "help sample"), a probe is detached
("help time"), lines are no longer watched. What was collected is kept. The same happens to waits
whose samples come faster than auger can take them in. A notice says what was done and which command
reverts it; `undo` does, too. A first notice comes at a fifth of PERCENT, or at 5 % if that is less.
What takes less than a hundredth of a CPU is left alone. `overhead off` only measures, and warns at
5 %.)help",
        .examples = R"help(overhead
overhead 10
overhead off)help",
        .arguments = {{.words = "5 10 25 50 off"}, {}},
        .parse = parse_overhead,
        .settings = {&overhead_setting},
    };
}

} // namespace auger
