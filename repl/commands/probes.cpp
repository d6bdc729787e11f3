// SPDX-License-Identifier: GPL-3.0-or-later
// probes: what is timed, where, and from which duration on it is slow; and the USDT probes that the
// target's files have.
#include "repl/commands/commands.h"
#include "repl/commands/list_tracepoints.h"
#include "repl/commands/showing.h"
#include "repl/language/probe_arguments.h"
#include "views/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

struct Probes final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        return show(
            session, place, [&] { return probes_view(session.model(), session.view_options()); },
            [&] { return probes_json(session.model()); });
    }
};

constexpr size_t usdt_rows = 600;

struct ListUsdt final : Command {
    std::string pattern; // [LIBRARY:]PROVIDER:NAME
    Span at{};           // of what was typed

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto refreshed = session.backend().refresh(); !refreshed)
            return complaint_of(refreshed.error(), place.at);
        auto found = session.backend().find_usdt_probes(pattern);
        if (!found)
            return complaint_of(found.error(), at);
        JsonObject object = json_reply(place.name);
        JsonObject rows = JsonObject::array(), skipped = JsonObject::array();
        Reply reply;
        reply.text = fmt::format("{} USDT probe{}\n", found->probes.size(),
                                 found->probes.size() == 1 ? "" : "s");
        const auto name_of = [](const UsdtProbeInfo& probe) {
            return escape_untrusted(fmt::format("{}:{}", probe.provider, probe.name));
        };
        size_t width = 0, shown = 0;
        for (const UsdtProbeInfo& probe : found->probes)
            width = std::max(width, std::min<size_t>(name_of(probe).size(), 44));
        std::string file;
        for (const UsdtProbeInfo& probe : found->probes) {
            rows.push_back({{"module", escape_untrusted(probe.module)},
                            {"provider", escape_untrusted(probe.provider)},
                            {"name", escape_untrusted(probe.name)},
                            {"sites", probe.sites},
                            {"arguments", escape_untrusted(probe.arguments)},
                            {"semaphore", probe.semaphore}});
            if (shown++ >= usdt_rows)
                continue;
            if (file != probe.module)
                reply.text += fmt::format("{}\n", escape_untrusted(probe.module));
            file = probe.module;
            reply.text +=
                fmt::format("  {:<{}}  {:>3} {:<5}  {:<9}  {}\n", name_of(probe), width,
                            probe.sites, probe.sites == 1 ? "site" : "sites",
                            probe.semaphore ? "semaphore" : "", escape_untrusted(probe.arguments));
            while (reply.text.ends_with(" \n"))
                reply.text.erase(reply.text.size() - 2, 1);
        }
        if (shown > usdt_rows)
            reply.text +=
                fmt::format("  ... and {} more; a pattern narrows them down\n", shown - usdt_rows);
        for (const std::string& text : found->skipped) {
            if (skipped.size() < usdt_rows)
                reply.text += fmt::format("  cannot be probed: {}\n", escape_untrusted(text));
            skipped.push_back(escape_untrusted(text));
        }
        if (!found->probes.empty())
            reply.text += fmt::format("  \"time usdt:{}\" counts how often one is reached\n",
                                      name_of(found->probes.front()));
        object["pattern"] = escape_untrusted(pattern);
        object["usdt"] = std::move(rows);
        object["skipped"] = std::move(skipped);
        reply.json = {json_line(object)};
        return reply;
    }
};

// "query*" is of any provider, "postgresql:query*" and "postgres:postgresql:*" say more.
std::string whole_pattern(std::string text) {
    constexpr std::string_view prefix = "usdt:";
    if (text.starts_with(prefix))
        text.erase(0, prefix.size());
    return text.find(':') == text.npos ? "*:" + text : text;
}

Parsed<CommandPtr> parse_probes(Arguments& arguments) {
    if (!arguments.at_end() && arguments.peek().text == "tracepoint")
        return parse_list_tracepoints(arguments, arguments.take().span);
    if (arguments.at_end() || arguments.peek().text != "usdt")
        return as_command(std::make_unique<Probes>());
    auto command = std::make_unique<ListUsdt>();
    command->at = arguments.take().span;
    command->pattern = "*:*";
    if (!arguments.at_end()) {
        const Word word = arguments.take();
        command->at = word.span;
        command->pattern = whole_pattern(word.text);
    }
    return as_command(std::move(command));
}

} // namespace

CommandRow probes_command() {
    return {
        .name = "probes",
        .group = "Views",
        .usage = "probes   or   probes usdt [PATTERN]   or   probes tracepoint [PATTERN]",
        .summary = "the probes, their places and thresholds; the USDT probes and tracepoints that there are",
        .details = R"help(
Each function is shown with how its return is probed (`help exit`): ret, ret (cheap), ret (2 of 3
cheap) or trampoline. Each probe is shown with an estimate of the share of the target's CPU time that
its hits took in the last second measured (`help overhead`).

A PROBE is written
  function            in the program; in its libraries when the program has none of that name
  library:function    libc:recv, libssl*:SSL_read, /usr/bin/app:main
  ns::Class::method   with or without arguments; leading namespaces may be left out, as in gdb
  'parse_*'           a glob: every function that matches
  recv@main.cc:1312   the calls of recv from that line, through a pointer too; other callers of
                      recv pay nothing. Needs line information (-g), or a debug file.
  recv@*              every direct call of recv, each call site counted by itself ("help sites")
  0x401136            the function at that address, as linked
  main.cc:1290        a line: how often it is reached
  usdt:postgresql:query__start
                      a USDT probe (statically defined tracing, as <sys/sdt.h> makes it): how often
                      it is reached; usdt:libc:libc:setjmp names the library. Globs are allowed.
                      Its arguments are arg0, arg1 ... in predicates, and keys of a span.
  tracepoint:block:block_rq_issue
                      a tracepoint of the kernel's: how often the target's threads hit it. Globs
                      are allowed. Its values are the fields of its record: args.sector,
                      str(args.comm).
  py:zlib.compress, php:PDO::query
                      a function written in C, by its name in Python (CPython 3.11 to 3.15) or PHP
                      (7.4 to 8.4), also in stripped interpreters. If its module is not imported
                      yet, auger waits for it. Functions written in Python or PHP themselves cannot
                      be timed: see `in py:FUNCTION` ("help only").
  syscall:read        the calls of read(2): a span from tracepoint:syscalls:sys_enter_read to
                      tracepoint:syscalls:sys_exit_read, with durations
A place (a line, a USDT probe, a tracepoint) has no duration: `slow` and `split` need a function, or a span.
`probes usdt` lists the USDT probes of the target's files: their sites, whether they have a semaphore
(by which the program knows that somebody listens; it is on while the probe is attached), and where
their arguments lie at the first site: bytes, negative with a sign, @, and an operand as assemblers
write it. PATTERN is a glob of names, PROVIDER:NAME or LIBRARY:PROVIDER:NAME.
`probes tracepoint` lists the kernel's tracepoints and their fields; PATTERN is a glob of names, or
CATEGORY:NAME. While one of `syscalls` or `raw_syscalls` is attached, every system call of every
process takes a little longer. Functions of the kernel (`kernel:tcp_sendmsg`) are not timed.
Functions of the C++ library are found where it is named: libstdc++:get, std::sort. What cannot be
probed without harm is refused, with the reason.)help",
        .examples = R"help(probes
probes usdt
probes usdt query*
probes usdt libc:libc:*
probes tracepoint block*
probes tracepoint syscalls:sys_enter_*)help",
        .arguments = {{.words = "usdt tracepoint"}, {.function = true}},
        .parse = parse_probes,
    };
}

} // namespace auger
