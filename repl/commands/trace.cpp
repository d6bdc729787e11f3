// SPDX-License-Identifier: GPL-3.0-or-later
// trace: every call, and each time that a place is reached.
#include "repl/commands/commands.h"
#include "repl/commands/tracing.h"

namespace auger {
namespace {

Parsed<CommandPtr> parse_trace(Arguments& arguments) {
    return parse_tracing(arguments, false);
}

} // namespace

CommandRow trace_command() {
    return {
        .name = "trace",
        .group = "Calls",
        .usage = "trace PROBE [if PREDICATE] [show EXPRESSION, ...]   or   trace PROBE off",
        .summary = "trace every call, or each time that a place is reached, with stack and values",
        .details = R"help(
Records each time that a line, a USDT probe, a tracepoint, or any place inside a function is reached,
and each call of a function or span: with time, thread, stack and values. `calls` lists them; each
belongs to the call around it: after `split handle > p95`, `calls slow` lists what was reached in slow
calls.

`if PREDICATE` traces only those for which it holds. `show` chooses the values that are recorded:
without it all arguments of a USDT probe (arg0, arg1), all fields of a tracepoint (args.FIELD), or a
function's parameters and result; with `show off`, none. The values of a line are not known. "help
expressions" explains both.

At most 1,000 a second are traced on each CPU, beyond a burst of 256: `status` says how many more there
were. `hist` counts all. Use `if` where that is not enough, or `slow`, which traces only calls beyond
a threshold.)help",
        .examples = R"help(trace usdt:postgresql:query__start show str(arg0)
trace tracepoint:block:block_rq_issue if args.bytes > 65536
trace main.cc:1290
trace handle show req->path, ret
trace handle off)help",
        .arguments = {probe_or_function,
                      {.words = "if show off"},
                      {.words = clause_values},
                      {.words = "and or not show"}},
        .parse = parse_trace,
    };
}

} // namespace auger
