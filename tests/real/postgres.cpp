// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/postgres.h"

#include "tests/support/run.h"
#include "tests/support/wait.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace auger::test {
namespace {

// It does not run as root.
const std::vector<std::string> as_nobody{"/usr/bin/setpriv", "--reuid=nobody", "--regid=nogroup",
                                         "--clear-groups"};

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace

Postgres::Postgres() {
    std::filesystem::permissions(folder_.path(""), std::filesystem::perms(0755));
    const std::string data = folder_.path("data");
    std::filesystem::create_directory(data);
    if (run({"/bin/chown", "nobody:nogroup", data}).code != 0)
        throw std::runtime_error("chown " + data);
    const Outcome made = run(joined(as_nobody, {programs[1], "-D", data + "/base", "-U", "shop",
                                                "--no-sync", "-A", "trust", "--locale=C"}));
    if (made.code != 0)
        throw std::runtime_error("initdb: " + made.out + made.err);
    folder_.file("load.sql", "\\set kind random(1, 20)\n"
                             "\\if :kind = 1\n"
                             "select count(*) from generate_series(1, 200000);\n"
                             "\\else\n"
                             "select 1;\n"
                             "\\endif\n");
    folder_.file("fail.sql", "select 1/0;\n");
    folder_.file("answer.sql", "select 6 * 7 as answer \\gset\n"
                               "\\if :answer <> 42\n"
                               "select 1/0;\n"
                               "\\endif\n");
    const auto command = joined(std::vector<std::string>(as_nobody.begin() + 1, as_nobody.end()),
                                {programs[0],
                                 "-D",
                                 data + "/base",
                                 "-k",
                                 data,
                                 "-c",
                                 "listen_addresses=",
                                 "-c",
                                 "fsync=off",
                                 "-c",
                                 "autovacuum=off",
                                 "-c",
                                 "logging_collector=on",
                                 "-c",
                                 "log_directory=" + data,
                                 "-c",
                                 "log_filename=log",
                                 "-c",
                                 "log_min_duration_statement=0",
                                 "-c",
                                 "log_line_prefix="});
    start(as_nobody[0], command);
    // What that asked is logged behind its answer.
    if (!wait_until([this] { return logged().queries > 0; }))
        throw std::runtime_error("PostgreSQL does not log its queries");
}

double Postgres::ask(const std::string& script, const std::string& protocol, int clients, int times,
                     int code) const {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = run(
        {programs[2], "--no-vacuum", "--protocol=" + protocol, "--host=" + folder_.path("data"),
         "--username=shop", "--file=" + folder_.path(script), "--client=" + std::to_string(clients),
         "--transactions=" + std::to_string(times), "postgres"});
    if (outcome.code != code)
        throw std::runtime_error("pgbench: " + outcome.out + outcome.err);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() *
           clients;
}

void Postgres::expect_answer() {
    (void)ask("answer.sql", "simple", 1, 1, 0);
}

double Postgres::load(const char* protocol) const {
    return ask("load.sql", protocol, 4, 100, 0);
}

double Postgres::fail_once() const {
    constexpr int client_aborted = 2;
    return ask("fail.sql", "simple", 1, 1, client_aborted);
}

// "LOG:  duration: 0.009 ms  statement: select 1;". Of the extended protocol a query has three
// lines: it is parsed, bound and executed; one that is prepared is parsed by itself, with a name.
Postgres::Logged Postgres::logged() {
    Logged found;
    constexpr std::string_view before = "duration: ";
    for (const std::string& line : new_lines(folder_.path("data/log"))) {
        found.errors += line.starts_with("ERROR:");
        const size_t at = line.find(before);
        if (at == line.npos)
            continue;
        found.seconds += std::stod(line.substr(at + before.size())) / 1e3;
        for (const char* query : {" ms  statement: ", " ms  execute ", " ms  parse P"})
            found.queries += line.find(query) != line.npos;
    }
    return found;
}

} // namespace auger::test
