// SPDX-License-Identifier: GPL-3.0-or-later
// slow: calls that take longer are traced.
#include "repl/commands/commands.h"
#include "repl/commands/tracing.h"

namespace auger {
namespace {

Parsed<CommandPtr> parse_slow(Arguments& arguments) {
    return parse_tracing(arguments, true);
}

} // namespace

CommandRow slow_command() {
    return {
        .name = "slow",
        .group = "Calls",
        .usage = "slow PROBE > DURATION | PERCENTILE [if PREDICATE] [show EXPRESSION, ...]   or   "
                 "slow PROBE off",
        .summary = "trace the calls that take longer, with stack, thread and values",
        .details = R"help(
Traces calls that take longer than the threshold; `calls` lists them. A percentile follows the
function's own recent calls. Times the function if it is not timed yet; on a timed one it edits the
threshold and leaves everything attached.

`if PREDICATE` traces only calls for which it holds. `show` chooses the values that are recorded:
without it, parameters and result as far as they are known, and the ids of trace and span where the
program shares them; with `show off`, none. "help expressions" explains both. `trace` traces every
call, and places, which have no duration.)help",
        .examples = R"help(slow handle > 5ms
slow libc:recv > p99
slow recv@main.cc:1312 > 1ms
slow recv > 1ms if arg2 > 4096 and ret < 0 show arg0, arg2, ret, errno
slow parse > 1ms show *(u32 *)(arg0 + 8), req->items[i], str(req->name)
slow handle off)help",
        .arguments = {probe_or_function,
                      {.words = "> off"},
                      {.words = threshold_words},
                      {.words = clause_words},
                      {.words = clause_values},
                      {.words = "and or not show"}},
        .parse = parse_slow,
    };
}

} // namespace auger
