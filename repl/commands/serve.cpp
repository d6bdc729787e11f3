// SPDX-License-Identifier: GPL-3.0-or-later
// serve: requests are answered by HTTP.
#include "loader/process/listen_socket.h"
#include "loader/process/users.h"
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/file_arguments.h"
#include "repl/session/edit_command.h"
#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {
namespace {

// `address` empty: all.
std::vector<std::string> serving_lines(const Session& session, const std::string& address = {}) {
    std::vector<std::string> lines;
    for (const std::string& place : session.services().endpoint().listening(address))
        lines.push_back(fmt::format("serving at {}", escape_untrusted(place)));
    if (lines.empty())
        lines.emplace_back("serving nowhere");
    return lines;
}

constexpr SettingRow serving_setting{
    .same = same_members<&Settings::serving>,
    .apply = [](const Settings& to, Backend&,
                Services& services) { return services.serve(to.serving); },
    .spell =
        [](const Settings& settings, std::vector<std::string>& lines) {
            for (const ServedAddress& served : settings.serving) {
                std::string line = "serve " + spell_word(served.address);
                if (!served.token_file.empty())
                    line += " token " + spell_word(served.token_file);
                if (!served.user.empty())
                    line += " for " + spell_word(served.user);
                lines.push_back(std::move(line));
            }
        },
};

struct ShowServing final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        return reply_lines(place.name, serving_lines(session));
    }
};

struct Serve final : EditCommand {
    ServedAddress served;
    Span user_at; // of the user

    Parsed<void> edit(SettingsEdit& edit) const override {
        std::vector<ServedAddress>& serving = edit.settings.serving;
        const auto known = std::ranges::find(serving, served.address, &ServedAddress::address);
        if (known == serving.end())
            serving.push_back(served);
        else if (!served.user.empty() && served.user != known->user)
            return Complaint{user_at,
                             fmt::format("\"{}\" is served for {}", served.address,
                                         known->user.empty() ? "nobody else" : known->user),
                             fmt::format("first \"serve off {}\"", spell_word(served.address)),
                             Error::Kind::failed};
        else if (!served.token_file.empty())
            known->token_file = served.token_file;
        return {};
    }
    std::string told(const Session& session, const EditOutcome&) const override {
        return fmt::format("{}", fmt::join(serving_lines(session, served.address), "\n"));
    }
};

struct EndServing final : EditCommand {
    std::string address; // as typed; empty: all of them
    Span at;             // of it

    Parsed<void> edit(SettingsEdit& edit) const override {
        std::vector<ServedAddress>& serving = edit.settings.serving;
        const auto known = std::ranges::find(serving, address, &ServedAddress::address);
        if (address.empty())
            serving.clear();
        else if (known != serving.end())
            serving.erase(known);
        else
            return Complaint{at, fmt::format("\"{}\" is not served", address),
                             "\"serve\" lists what is", Error::Kind::failed};
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return outcome.now.serving.empty() ? "serving nowhere"
                                           : fmt::format("not serving at {}", address);
    }
};

// The next word, where one can listen.
Parsed<ListenAddress> parse_address(Arguments& arguments) {
    const Word& word = arguments.take();
    auto address = parse_listen_address(word.text);
    if (address)
        return std::move(*address);
    const Error& error = address.error();
    Span at = word.span;
    if (error.at && !word.quoted)
        at = {at.offset + error.at->offset, error.at->length};
    return Complaint{at, fmt::format("\"{}\": {}", word.text, error.cause), error.hint,
                     Error::Kind::usage};
}

Parsed<CommandPtr> parse_serve(Arguments& arguments) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowServing>());
    if (arguments.take_if("off")) {
        auto command = std::make_unique<EndServing>();
        if (arguments.at_end())
            return as_command(std::move(command));
        command->address = arguments.peek().text;
        command->at = arguments.peek().span;
        if (auto address = parse_address(arguments); !address)
            return address.complaint();
        return as_command(std::move(command));
    }
    auto command = std::make_unique<Serve>();
    command->served.address = arguments.peek().text;
    auto address = parse_address(arguments);
    if (!address)
        return address.complaint();
    if (arguments.take_if("for")) {
        if (address->kind != ListenAddress::Kind::unix_socket)
            return Complaint{arguments.span_of(arguments.position() - 1),
                             "who connects to a port is not known, but by its token",
                             "serve unix:PATH for USER", Error::Kind::usage};
        auto user = arguments.expect("a user");
        if (!user)
            return user.complaint();
        if (auto found = find_user(user->text); !found)
            return Complaint{user->span, fmt::format("\"{}\": {}", user->text, found.error().cause),
                             found.error().hint, Error::Kind::usage};
        command->served.user = user->text;
        command->user_at = user->span;
        return as_command(std::move(command));
    }
    if (!arguments.take_if("token"))
        return as_command(std::move(command));
    if (address->kind == ListenAddress::Kind::unix_socket)
        return Complaint{arguments.span_of(arguments.position() - 1),
                         "a socket's clients need no token: they are root, whom auger runs as, and "
                         "who called sudo",
                         "serve unix:PATH for USER answers one user more", Error::Kind::usage};
    auto file = parse_path(arguments, "a file");
    if (!file)
        return file.complaint();
    command->served.token_file = std::move(*file);
    return as_command(std::move(command));
}

} // namespace

CommandRow serve_command() {
    return {
        .name = "serve",
        .group = "Files",
        .usage = "serve unix:PATH [for USER] | 127.0.0.1:PORT [token FILE] | off [ADDRESS]",
        .summary = "answer requests by HTTP: a live page, samples, profiles, metrics",
        .details = R"help(
/sample answers with a second of samples as the text of perf script:
  curl --unix-socket PATH http://localhost/sample \
       -d '{"numberOfSamples":100,"timeInterval":"10 ms"}'
  go tool pprof 'http://127.0.0.1:PORT/debug/pprof/profile?seconds=10&token=TOKEN'
A browser that opens the URL shows a live page: flame, classes, slow calls, difference, histogram and
functions, as they change; it changes nothing itself, and stops while nobody sees it. There are
/flame.html, /profile.otlp (OpenTelemetry), /profile.folded (collapsed stacks), /metrics (Prometheus,
also with native histograms), /status and the answers of commands as JSON, too; / lists all.
/debug/pprof/profile and /profile.otlp merge the threads of a process, since stores keep a series for
each label; with threads=1 samples are labelled with their thread.
When nothing is sampled, it is while a request for samples or a profile lasts, at 999 Hz and for ten
minutes at most. With pid=NUMBER these are of one process; at a socket pid=self is the one that asks,
which auger_client.h and auger.py do for programs.

A unix socket is made with the rights of who called sudo, has mode 0600, and answers that user, root,
and whom auger runs as; {PID} in its path is the target's first process. `for USER` gives it to a user
more, whose processes get samples and profiles of themselves (pid=self), and nothing else: for programs
that ask for their own. Every user of this machine
can connect to a port, so its clients need the token in the URL that is printed: as it stands there,
or in a header "Authorization: Bearer TOKEN". It is a new one each time, unless `token FILE` names the
file that holds it; where there is none, it is made, for you alone.

`serve` alone lists addresses, `serve off` ends one or all; `status` says what clients took. --serve
and AUGER_SERVE do the same at startup: --serve '127.0.0.1:7400 token FILE'.)help",
        .examples = R"help(serve unix:/tmp/auger-{PID}.sock
serve unix:/run/shop.sock for www-data
serve 127.0.0.1:7400
serve 127.0.0.1:7400 token /etc/auger/token
serve off)help",
        .arguments = {{.words = "unix: 127.0.0.1: off"}, {.words = "token for"}, {.file = true}},
        .parse = parse_serve,
        .settings = {&serving_setting},
    };
}

} // namespace auger
