// SPDX-License-Identifier: GPL-3.0-or-later
// span: what begins at one probe and ends at another, or is asked and answered on a connection, is
// counted and timed like a call.
#include "repl/commands/commands.h"
#include "repl/language/probe_arguments.h"
#include "repl/language/script.h"
#include "repl/language/span_arguments.h"
#include "repl/session/edit_command.h"
#include "repl/session/listener_spans.h"
#include "repl/session/marked_spans.h"
#include "repl/session/presets.h"
#include "repl/session/session.h"
#include "views/escape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace auger {
namespace {

struct MakeSpan final : EditCommand {
    ProbeRef probe; // its name
    SpanDefinition span;

    Parsed<void> edit(SettingsEdit& edit) const override {
        if (const ProbeSetting* there = edit.settings.find(probe.text);
            there && there->span.text != span.text)
            return Complaint{
                probe.at,
                fmt::format("\"{}\" is {} already", probe.text,
                            there->span.empty() ? "a probe" : "another span"),
                fmt::format("\"delete {}\" ends it; or choose another name", probe.text),
                Error::Kind::failed};
        auto made = edit.find_or_add(probe);
        if (!made)
            return made.complaint();
        (*made)->span = span;
        (*made)->off = false;
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        const std::string name = probe_name(*outcome.probe);
        return outcome.added() ? fmt::format("timing {} {}", name, escape_untrusted(span.text))
                               : fmt::format("{} is timed already", name);
    }
    const ProbeRef* makes() const override { return &probe; }
    std::string next_step(const ProbeSetting& made) const override {
        return fmt::format("\"hist {0}\" shows its durations, \"split {0} > p95\" its slow ones",
                           made.text);
    }
};

// span auto
struct AutoSpan final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        Made made;
        for (const Preset* preset : presets_for(session.backend().target_status()))
            for (const ScriptLine& line : script_lines(std::string(preset->program), preset->text))
                make(session, place, preset->program, line.text, made);
        if (auto notes = session.backend().find_usdt_probes(marks_pattern)) {
            const MarkedSpans marked = marked_spans(*notes);
            std::ranges::copy(marked.left_out, std::back_inserter(made.left_out));
            std::ranges::copy(notes->skipped, std::back_inserter(made.left_out));
            for (const MarkedSpan& span : marked.spans)
                make(session, place, span.name,
                     fmt::format("span {} {}", span.name, span.definition), made);
        }
        if (made.spans == 0)
            if (const auto listeners = session.backend().find_listeners())
                for (const ListenerSpan& span : listener_spans(*listeners))
                    make(session, place, span.definition,
                         fmt::format("span {} {}", span.name, span.definition), made);
        if (made.spans == 0)
            return made.first ? *made.first : nothing_known(place.at, made.left_out);
        for (const std::string& text : some_of(made.left_out))
            made.reply.text += fmt::format("  left out: {}\n", escape_untrusted(text));
        return made.reply;
    }

  private:
    struct Made {
        size_t spans = 0;
        Reply reply;
        std::vector<std::string> left_out{}; // and why
        std::optional<Complaint> first{};    // of them, that it was tried to make
    };

    // One that cannot be made is no reason to do without the others.
    static void make(Session& session, const CommandPlace& place, std::string_view of,
                     const std::string& line, Made& made) {
        auto reply = session.run_inside(line, place.at);
        if (!reply) {
            made.left_out.push_back(fmt::format("{}: {}", of, reply.complaint().message));
            made.first = made.first.value_or(reply.complaint());
            return;
        }
        made.spans++;
        made.reply.text += reply->text;
        made.reply.json.insert(made.reply.json.end(), reply->json.begin(), reply->json.end());
    }

    // A hostile file may have any number.
    static std::vector<std::string> some_of(std::vector<std::string> all) {
        constexpr size_t most = 16;
        if (all.size() > most) {
            std::string rest = fmt::format("{} more", all.size() - most);
            all.resize(most);
            all.push_back(std::move(rest));
        }
        return all;
    }

    static Complaint nothing_known(Span at, const std::vector<std::string>& left_out) {
        std::vector<std::string_view> names;
        for (const Preset& preset : presets())
            names.push_back(preset.program);
        std::string cause = "no program of the target is one that spans are known of";
        if (!left_out.empty())
            cause += fmt::format(" ({})", fmt::join(some_of(left_out), "; "));
        cause += ", and none listens for connections";
        return {at, std::move(cause),
                fmt::format("they are known of {}, and of programs that mark them with auger.h or "
                            "auger.py; \"help span\" says how to name others",
                            fmt::join(names, ", ")),
                Error::Kind::failed};
    }
};

Parsed<CommandPtr> parse_span_command(Arguments& arguments) {
    if (arguments.left() == 1 && arguments.take_if("auto"))
        return as_command(std::make_unique<AutoSpan>());
    auto name = arguments.expect("a name");
    if (!name)
        return name.complaint();
    if (!is_span_name(name->text))
        return Complaint{name->span, fmt::format("\"{}\" is no name for a span", name->text),
                         "letters, digits, - and _, such as: request", Error::Kind::usage};
    auto span = parse_span(arguments);
    if (!span)
        return span.complaint();
    auto command = std::make_unique<MakeSpan>();
    command->probe = probe_ref(*name);
    command->span = std::move(*span);
    return as_command(std::move(command));
}

} // namespace

CommandRow span_command() {
    return {
        .name = "span",
        .group = "Calls",
        .usage = "span NAME from PROBE [if PREDICATE] [key EXPRESSION] [queued] [keep] "
                 "to PROBE [if PREDICATE] [key EXPRESSION] [park PROBE] [resume PROBE key "
                 "EXPRESSION] [limit DURATION]   or   span NAME exchanges [port PORT | unix PATH] "
                 "[quiet DURATION] [limit DURATION]   or   span auto",
        .summary = "time what begins at one probe and ends at another: requests of event loops, "
                   "pools, queues; or what is asked and answered on connections",
        .details = R"help(
A span begins where `from` is reached and ends where `to` is reached with the same key, on whatever
thread. Its name is then a PROBE everywhere: `hist`, `split`, `slow`, `only`, `calls`, `open`,
`threshold`, exports.

A point is a function (where it begins; `f%return`: where it returns), a call site, FILE:LINE, a
USDT probe or a tracepoint ("help probes"). There may be several of each kind. `if` chooses among
its calls. `key` is what tells the spans apart that are open at once: a pointer to the request, a
number, a string (its first 63 bytes, of which `open` shows a hash; "help expressions"); of a USDT
probe, one of its arguments; of a tracepoint, one of its fields; `task`, the task of an event loop
that CPython runs, or that tokio (Rust) polls, or a virtual thread of Java's (JDK 25); `trace` or `span_id`. Where a thread runs no task, or works for no trace, that is
no key, and nothing begins or ends. `ret` and `errno` are known at the return, so a point that asks
for them is there. Without `key` (or with `key thread`) a span belongs to the thread on which it
begins, and a point other than `from` means the span that the thread works for at that moment. In
a Go program it belongs to the goroutine instead, whichever thread that runs on.

Samples belong to the span that their thread works for: from `from` on, until `park` (it waits for
something, and the thread goes on to another one) or `to`, and again from `resume` on. A thread that
begins or resumes another span of that name leaves the one before. With `queued` no thread works for
a span before it is first resumed. So an event loop needs `resume` where it takes up a request.

A C++20 coroutine can be a span with its frame's address as key. GCC makes its body the function
'handle [clone .actor]', Clang 'handle [clone .resume]'; with both, 'handle [clone .destroy]' destroys
it (docs/howto/coroutines.md).

A span that begins while one with its key is open ends that as `unended`; with `keep` it goes on,
and nothing begins. What is open for longer than `limit` (10m) is given up: `expired`. `hist NAME`
shows the account, and where the time went: cpu, blocked, runnable (with `sample wall`), parked,
queued; or `served or parked`, for goroutines, tokio tasks and virtual threads of which auger does not
see when they park.

`exchanges` needs no probes: each thing that is asked and answered on a connection that the target
has accepted, by TCP or at the unix socket PATH, is a span, in whatever language. It begins when
what is asked arrives, is queued until it is first received, and ends with the last send before the
next receive; that is known at the next receive, when the connection is closed, or when nobody works
for it and nothing was sent for `quiet` (500ms). `port` is the one where the server listens; without
it all TCP connections count. PATH is where it listens as `ss -xl` lists it (@NAME where that is no
file). Where a thread serves one connection at a time, samples are exact; an event loop works for
the connection that it received or sent something on last, and when an upstream answers, for the
request that asked it; asyncio's and gevent's for that on which the running task or greenlet sends
something next; in Go, with tokio (Rust) and since JDK 25 in
Java they go by the goroutine, the task and the virtual thread, on whatever thread. What cannot be told from the socket is counted as
ambiguous and is in no histogram, class or slow call: answers before all was read (pipelines), sends
that nobody asked for, TLS, HTTP/2. An exchange whose connection closes before anything is sent is
`unanswered` in `hist`, which shows how many were ambiguous, and why.

Tracepoints also fire in interrupts: a block request completes on whatever thread is running. So a
span begins at a tracepoint only on a thread of the target, but a `to` or `park` tracepoint with a
key applies on any thread. Keys of such a span hold for the whole machine (unless all its
tracepoints are system calls'), and ends without a beginning are not counted as stray.

`span auto` makes the spans that are known of the target's programs (haproxy, nginx, postgres,
redis-server; mariadbd's commands are calls), and those that programs mark themselves with
AUGER_SPAN_BEGIN(NAME, id) of auger.h, or auger.Span("NAME") of auger.py, and says what they are from
and to. Where there are none it makes exchanges of each place where the target listens:
ports and unix sockets.)help",
        .examples =
            R"help(span request from ngx_http_create_request key ret to ngx_http_free_request key arg0
span request from accept_request key arg0 to send_reply%return key arg0
span job from enqueue key arg1 queued to finish_job key arg0 resume run_job key arg0
span tx from usdt:postgresql:transaction__start to usdt:postgresql:transaction__commit
span io from tracepoint:block:block_rq_issue key args.sector to tracepoint:block:block_rq_complete key args.sector
span query from begin_query keep to end_query limit 10s
span http exchanges port 8080
span fpm exchanges unix /run/php/php8.2-fpm.sock
span auto)help",
        .arguments = {{.words = "auto"},
                      {.words = "from exchanges"},
                      {.function = true},
                      {.after = "from", .function = true},
                      {.after = "to", .function = true},
                      {.after = "park", .function = true},
                      {.after = "resume", .function = true},
                      {.after = "key", .words = "arg0 arg1 arg2 ret span_id thread task trace"},
                      {.after = "if", .words = "arg0 arg1 arg2 ret"},
                      {.after = "limit", .words = "10s 1m 10m"},
                      {.after = "quiet", .words = "100ms 500ms 2s"},
                      {.after = "port", .words = "80 8080"},
                      {.after = "unix", .file = true},
                      {.words = span_words}},
        .parse = parse_span_command,
    };
}

} // namespace auger
