// SPDX-License-Identifier: GPL-3.0-or-later
// What goes on while nobody types: record, on, serve.
#include "loader/process/listen_socket.h"
#include "repl/commands/file_arguments.h"
#include "repl/commands/probe_arguments.h"
#include "repl/language/values.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr size_t default_keep = 60;
constexpr size_t most_kept = 100'000;
constexpr uint64_t longest_flight_ns = 600 * second_ns;

// A duration between two others.
Parsed<uint64_t> parse_span(Arguments& arguments, std::string_view what, uint64_t least,
                            uint64_t most) {
    auto word = arguments.expect(what);
    if (!word)
        return word.complaint();
    auto duration = duration_of(*word);
    if (duration && (*duration < least || *duration > most))
        return Complaint{word->span,
                         fmt::format("{} is between {} and {}", what, spell_duration(least),
                                     spell_duration(most)),
                         "", Error::Kind::usage};
    return duration;
}

Parsed<size_t> parse_keep(Arguments& arguments) {
    auto word = arguments.expect("how many are kept");
    if (!word)
        return word.complaint();
    auto count = count_of(*word);
    if (!count)
        return count.complaint();
    if (*count == 0 || *count > most_kept)
        return Complaint{word->span, fmt::format("between 1 and {} are kept", most_kept), "",
                         Error::Kind::usage};
    return static_cast<size_t>(*count);
}

Parsed<Command> parse_record(Arguments& arguments) {
    RecordCommand command;
    if (arguments.at_end())
        return Command(std::move(command));
    if (arguments.take_if("off")) {
        command.kind = RecordCommand::Kind::off;
        return Command(std::move(command));
    }
    auto path = parse_path(arguments, "a file");
    if (!path)
        return path.complaint();
    command.path = std::move(*path);
    command.kind = RecordCommand::Kind::stream;
    if (!arguments.take_if("every"))
        return Command(std::move(command));
    command.kind = RecordCommand::Kind::intervals;
    IntervalFiles& files = command.intervals;
    files.folder = std::exchange(command.path, {});
    auto every = parse_span(arguments, "an interval", second_ns, 24 * 3'600 * second_ns);
    if (!every)
        return every.complaint();
    files.every_ns = *every;
    files.keep = default_keep;
    if (arguments.take_if("keep")) {
        auto keep = parse_keep(arguments);
        if (!keep)
            return keep.complaint();
        files.keep = *keep;
    }
    while (!arguments.at_end()) {
        auto format = parse_format(arguments);
        if (!format)
            return format.complaint();
        if (std::ranges::find(files.formats, *format) == files.formats.end())
            files.formats.push_back(*format);
    }
    if (files.formats.empty())
        files.formats = {find_export_format("collapsed"), find_export_format("html")};
    return Command(std::move(command));
}

Parsed<Command> parse_on(Arguments& arguments) {
    TriggerCommand command;
    if (arguments.at_end())
        return Command(std::move(command));
    if (arguments.take_if("off")) {
        command.kind = TriggerCommand::Kind::off;
        return Command(std::move(command));
    }
    if (!arguments.take_if("slow"))
        return Complaint{arguments.peek().span, "only slow calls trigger something",
                         fmt::format("usage: {}", arguments.usage()), Error::Kind::usage};
    auto probe = parse_probe(arguments);
    if (!probe)
        return probe.complaint();
    command.probe = std::move(*probe);
    if (arguments.take_if("off")) {
        command.kind = TriggerCommand::Kind::off_probe;
        return Command(std::move(command));
    }
    command.kind = TriggerCommand::Kind::slow;
    auto threshold = parse_threshold_value(arguments, command.probe);
    if (!threshold)
        return threshold.complaint();
    command.threshold = *threshold;
    if (!arguments.take_if("record") || !arguments.take_if("last"))
        return arguments.missing("\"record last\" and how much");
    Trigger& trigger = command.trigger;
    auto span = parse_span(arguments, "what led to it", second_ns, longest_flight_ns);
    if (!span)
        return span.complaint();
    trigger.span_ns = *span;
    trigger.folder = ".";
    trigger.rest_ns = 60 * second_ns;
    trigger.keep = default_keep;
    while (!arguments.at_end()) {
        if (arguments.take_if("in")) {
            auto folder = parse_path(arguments, "a folder");
            if (!folder)
                return folder.complaint();
            trigger.folder = std::move(*folder);
        } else if (arguments.take_if("every")) {
            auto rest =
                parse_span(arguments, "the time between two", second_ns, 24 * 3'600 * second_ns);
            if (!rest)
                return rest.complaint();
            trigger.rest_ns = *rest;
        } else if (arguments.take_if("keep")) {
            auto keep = parse_keep(arguments);
            if (!keep)
                return keep.complaint();
            trigger.keep = *keep;
        } else {
            break; // who asked complains of what is left
        }
    }
    return Command(std::move(command));
}

Parsed<Command> parse_serve(Arguments& arguments) {
    ServeCommand command;
    if (arguments.at_end())
        return Command(std::move(command));
    if (arguments.take_if("off"))
        command.kind = ServeCommand::Kind::off;
    else
        command.kind = ServeCommand::Kind::address;
    if (arguments.at_end())
        return Command(std::move(command));
    const Word& word = arguments.take();
    command.address = word.text;
    command.at = word.span;
    const auto address = parse_listen_address(word.text);
    if (!address) {
        const Error& error = address.error();
        Span at = word.span;
        if (error.at && !word.quoted)
            at = {at.offset + error.at->offset, error.at->length};
        return Complaint{at, fmt::format("\"{}\": {}", word.text, error.cause), error.hint,
                         Error::Kind::usage};
    }
    if (command.kind == ServeCommand::Kind::off || !arguments.take_if("token"))
        return Command(std::move(command));
    if (address->kind == ListenAddress::Kind::unix_socket)
        return Complaint{arguments.span_of(arguments.position() - 1),
                         "a socket's clients need no token: they are root, whom auger runs as, and "
                         "who called sudo",
                         "", Error::Kind::usage};
    auto file = parse_path(arguments, "a file");
    if (!file)
        return file.complaint();
    command.token_file = std::move(*file);
    return Command(std::move(command));
}

// Kept: rows of the table refer to it.
std::string_view record_help() {
    static const std::string help = fmt::format(
        "FILE: the whole event stream, with everything defined so far, so that\n"
        "`auger --replay FILE` answers the same commands elsewhere, without privileges; it can be\n"
        "read however auger ends. Of what is there by that name only a recording of yours, or an\n"
        "empty file, is replaced.\n"
        "DIR every SPAN: continuous profiling. The samples of each interval become files of their\n"
        "own, profile_TIME in UTC, and links last_profile lead to the latest; files of all but "
        "the\n"
        "latest N intervals (default {}) are removed. Intervals follow each other without a gap.\n"
        "FORMAT, several of: {};\n"
        "default: collapsed and html. Unless something is sampled already, CPU time is, at 49 Hz.\n"
        "`record` alone says what is being recorded.",
        default_keep, format_names());
    return help;
}

} // namespace

std::vector<CommandRow> service_commands() {
    return {
        {"record",
         "",
         "Files",
         "record FILE | DIR every SPAN [keep N] [FORMAT...] | off",
         "write the event stream to a file, or files of each interval",
         record_help(),
         "record slow.auger\nrecord /var/lib/auger every 60s keep 1440\n"
         "record profiles every 10s keep 6 pprof\nrecord off",
         {{.file = true, .words = "off"},
          {.words = "every"},
          {.words = "10s 60s"},
          {.words = "keep"},
          {}},
         parse_record},
        {"on",
         "",
         "Files",
         "on slow PROBE > THRESHOLD record last SPAN [in DIR] [every SPAN] [keep N] | off",
         "keep what led to a slow call",
         "A flight recorder: the event stream's last seconds are kept in memory, and when a slow "
         "call\n"
         "of PROBE has been traced they are written to DIR (default: the current folder) as\n"
         "slow-PROBE_TIME.auger, for `auger --replay`. At most one every SPAN (default 60s), and "
         "of\n"
         "those the latest N (default 60) stay. `on` alone lists what is set, `on slow PROBE off` "
         "ends\n"
         "one, `on off` all.",
         "on slow handle > 100ms record last 10s\n"
         "on slow handle > p99.9 record last 30s in /var/lib/auger every 10m keep 20\n"
         "on slow handle off",
         {{.words = "slow off"},
          probe_or_function,
          {.words = ">"},
          {.words = thresholds},
          {.words = "record"},
          {.words = "last"},
          {.words = "10s 30s"},
          {.words = "in every keep"},
          {}},
         parse_on},
        {"serve",
         "",
         "Files",
         "serve unix:PATH | 127.0.0.1:PORT [token FILE] | off [ADDRESS]",
         "answer requests by HTTP: samples, profiles, flames, metrics",
         "curl --unix-socket PATH -d '{\"numberOfSamples\":100,\"timeInterval\":\"10 ms\"}'\n"
         "http://localhost/sample answers with a second of samples of the target, as the text of "
         "perf\n"
         "script; go tool pprof "
         "'http://127.0.0.1:PORT/debug/pprof/profile?seconds=10&token=TOKEN'\n"
         "works, too. /flame.html, /metrics (Prometheus), /status, and / lists all. When nothing "
         "is\n"
         "sampled, it is while a request lasts, at 999 Hz at most, and for ten minutes at most.\n"
         "A unix socket is made with the rights of who called sudo, has mode 0600, and answers "
         "that user,\n"
         "root and whom auger runs as; {PID} in its path is the target's first process. Every user "
         "of\n"
         "this machine can connect to a port, so its clients need the token in the URL that is "
         "said: as\n"
         "it stands there, or as a header \"Authorization: Bearer TOKEN\". It is a new one each "
         "time,\n"
         "unless `token FILE` says which: that of the file, which is made, for you alone, where "
         "there is\n"
         "none. `serve` alone lists addresses, `serve off` ends one or all; `status` says what "
         "clients\n"
         "took. --serve and AUGER_SERVE do the same at the start: --serve '127.0.0.1:7400 token "
         "FILE'.",
         "serve unix:/tmp/auger-{PID}.sock\nserve 127.0.0.1:7400\n"
         "serve 127.0.0.1:7400 token /etc/auger/token\nserve off",
         {{.words = "unix: 127.0.0.1: off"}, {.words = "token"}, {.file = true}},
         parse_serve},
    };
}

} // namespace auger
