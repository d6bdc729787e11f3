// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/help_topics.h"

namespace auger {

std::span<const HelpTopic> help_topics() {
    static constexpr HelpTopic topics[] = {
        {"workflow", "from \"sometimes slow\" to the cause", R"help(
  sample                      where does the time go? (`sample wall` where calls wait)
  suggest                     which function does the work? (its name is handle here)
  time handle                 how long do its calls take?
  hist handle                 is there a tail?
  split handle > p95          which samples lie in slow calls?
  diff slow fast              what do slow calls do that fast ones do not?
  slow fetch > 8ms            trace the slow calls of what is to blame
  calls fetch                 with arguments, stack, and what they waited for
Each step keeps what was collected before, and nothing is restarted. `undo` takes a step back, `view`
shows all of it live, and keys lead along the same way there. `save session.aug` keeps the commands,
`record FILE` the events, for `auger --replay`.)help"},
        {"classes", "slow, fast and the other classes of a split", R"help(
While `split` is in force, each sample has a class, by the outermost call of the split's probe around
it. When the call ends, or the threshold moves, its samples are classified again, past ones too.
  slow, fast         the call took longer than the threshold, or not
  open               it has not ended, or the percentile is not known yet (100 calls for p95)
  outside            in no call of the probe
  10ms..50ms         it took at least the first and less than the second; 10ms.. and ..50ms
  taken, not-taken   it executed the split's line, or its predicate held; or not
  host=NAME          it was on that host; host!=NAME: on another one. Needs no split
  in=FUNCTION        that function is on the sample's stack; in!=FUNCTION: it is not. Needs no split,
                     and the function need not be timed: parse, libc:recv, py:app.handler (a
                     language: py, java, js, php, rb, perl; then the function, with or without its
                     module or class)
  =VALUE             the split's expression had this value
  all                every sample
Joined with +: slow+taken, fast+not-taken, slow+=3. `flame`, `top`, `threads`, `calls`, `callers`,
`callees` and `save` take a class, `diff` two.)help"},
        {"expressions", "values of calls, and predicates over them", R"help(
An EXPRESSION is a value of a call:
  arg0 ... argN                  arguments by position: 64 bits where no type is known. In a Go
                                 function the registers that pass arguments; a string takes two
  fd, req->len                   parameters by name and their members, with debug information
  str(arg1)                      the string that a pointer leads to; a string or []byte of Go's
  ret                            the result, when the call has ended; further results of a Go
                                 function are ret1, ret2, or go by their names
  errno                          of the thread, when the call has ended
  task                           the coroutine of the task that CPython runs, by its id(), and the
                                 task's name; of a task that tokio (Rust) polls, or a virtual
                                 thread of Java's (JDK 25), its number; where none runs 0, which is
                                 shown as null
  trace, span_id                 what the thread works for when the call begins, where the program
                                 says so (OpenTelemetry's thread context); for nothing 0, which is
                                 shown as none
  golabel("route")               the pprof label of the goroutine that the thread works for, of Go
                                 programs; without one empty, which is shown as none
  *p, p[2], p->items[i]          what a pointer leads to: 8 bytes where no type is known
  *(arg0 + 8), &p->name          what lies 8 bytes further; an address
  (u8)arg1, (int64)n             as another type: u8 to u64, s8 to s64, uint8_t ..., C's integers
  *(u32 *)(arg0 + 8)             read as that type
  ((struct request *)arg0)->len  types of the debug information, with or without struct, enum
  arg1 - arg0, n % 1000          arithmetic: + - * / % & | << >>
On a pointer, + and - count in what it leads to, or in bytes where that is not known or void, and so
does the difference of two. Other arithmetic has 64 bits, without sign when an operand is a u64;
division rounds towards zero. Operators bind as in C, but & and | bind tighter than comparisons:
flags & 6 == 2. Of the 8 values that a probe may have, arg1 - arg0 takes three. Where a pointer on
the way cannot be read, or zero divides, the value is "unreadable".

A PREDICATE compares them with numbers, strings or each other (== != < <= > >=), joined by and, or,
not and parentheses: arg2 > 4096 and ret < 0. A comparison of a value that cannot be read does not
hold, and neither does its opposite. A trace is compared with its 32 digits in quotes, or with 0.
Text is equal (==) or not (!=) to text in quotes: golabel("route") == "/quote".

`slow PROBE > T if PREDICATE show EXPRESSION, ...` traces by them, `only PROBE if PREDICATE` counts by
them, `split PROBE if PREDICATE` and `split PROBE by EXPRESSION` classify by them.)help"},
    };
    return topics;
}

} // namespace auger
