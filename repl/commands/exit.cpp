// SPDX-License-Identifier: GPL-3.0-or-later
// exit: how the end of a timed function is seen; alone, the way out of auger.
#include "repl/commands/commands.h"
#include "repl/session/edit_command.h"
#include "repl/session/session.h"

#include <fmt/format.h>

namespace auger {
namespace {

// In the order of WayOut.
const std::vector<std::string> words{"auto", "cheap", "ret", "trampoline"};

std::string_view describe(WayOut way_out) {
    switch (way_out) {
    case WayOut::cheap:
        return "cheap instructions before the ret where there are any, else ret";
    case WayOut::ret:
        return "ret instructions";
    case WayOut::trampoline:
        return "uretprobes";
    case WayOut::automatic:
        break;
    }
    return "uretprobes where proven safe, else as with cheap";
}

constexpr SettingRow exit_setting{
    .order = SettingRow::Order::before_probes,
    .same = same_members<&Settings::way_out>,
    .apply = [](const Settings& to, Backend& backend,
                Services&) { return backend.set_way_out(to.way_out); },
    .spell =
        [](const Settings& settings, std::vector<std::string>& lines) {
            if (settings.way_out != WayOut::automatic)
                lines.push_back("exit " + words[static_cast<size_t>(settings.way_out)]);
        },
};

struct SetWayOut final : EditCommand {
    WayOut way_out = WayOut::automatic;

    Parsed<void> edit(SettingsEdit& edit) const override {
        edit.settings.way_out = way_out;
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return fmt::format("exit probes of functions timed from now on: {}",
                           describe(outcome.now.way_out));
    }
};

Parsed<CommandPtr> parse_exit(Arguments& arguments) {
    if (arguments.at_end())
        return quit_command().parse(arguments);
    auto way = arguments.expect_choice("a kind of exit probes", words);
    if (!way)
        return way.complaint();
    auto command = std::make_unique<SetWayOut>();
    command->way_out = static_cast<WayOut>(*way);
    return as_command(std::move(command));
}

} // namespace

CommandRow exit_command() {
    return {
        .name = "exit",
        .group = "What is observed",
        .usage = "exit [auto | cheap | ret | trampoline]",
        .summary = "how the end of a timed function is probed; without an argument, quit",
        .details = R"help(
  ret         a probe on every instruction by which the function exits: ret, and jumps out of it.
              Safe whatever the target does, but a ret is single-stepped, the dearest kind of
              probe.
  cheap       as ret, but where a jump can lead only to a ret (the stack protector's check, say)
              the probe is on the jump, at about a twentieth of the cost. The instructions after
              it, at most 16, none of which can fault or take long, are not in the duration. What
              the probe costs calls that pass the jump without ending there is measured and taken
              out of durations. The ret is probed after all where the result or errno is read, and
              while lines are watched.
  trampoline  a uretprobe. Cheaper, but it replaces return addresses: exceptions, Go, and code
              that switches stacks crash under it.
  auto        (the default) a uretprobe where that is proven safe, else cheap; says which, and why.
Proven safe means: all code that the target has mapped was read, none of it unwinds or switches
stacks, and nothing loads further code (dlopen, a JIT). When that changes, auto goes on as cheap.
With -a and -n it is cheap, as processes come that nobody has read. Applies to probes that are added
from now on.)help",
        .examples = R"help(exit auto
exit cheap
exit ret)help",
        .arguments = {{.words = "auto cheap ret trampoline"}, {}},
        .parse = parse_exit,
        .settings = {&exit_setting},
    };
}

} // namespace auger
