// SPDX-License-Identifier: GPL-3.0-or-later
// probes: what is timed, where, and from which duration on it is slow.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"

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

Parsed<CommandPtr> parse_probes(Arguments&) {
    return as_command(std::make_unique<Probes>());
}

} // namespace

CommandRow probes_command() {
    return {
        .name = "probes",
        .group = "Views",
        .usage = "probes",
        .summary = "the probes, their places and thresholds",
        .details = R"help(
A PROBE is written
  function            in the program; in its libraries when the program has none of that name
  library:function    libc:recv, libssl*:SSL_read, /usr/bin/app:main
  ns::Class::method   with or without arguments; leading namespaces may be left out, as in gdb
  'parse_*'           a glob: every function that matches
  recv@main.cc:1312   the calls of recv from that line, through a pointer too; other callers of
                      recv pay nothing. Needs line information (-g), or a debug file.
  recv@*              every direct call of recv, each call site counted by itself ("help sites")
  0x401136            the function at that address, as linked
Functions of the C++ library are found where it is named: libstdc++:get, std::sort. What cannot be
probed without harm is refused, with the reason.)help",
        .arguments = {{}},
        .parse = parse_probes,
    };
}

} // namespace auger
