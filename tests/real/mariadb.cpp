// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/mariadb.h"

#include "tests/support/run.h"
#include "tests/support/wait.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <future>
#include <stdexcept>

namespace auger::test {

namespace {

// A server that root starts must have an owner for its files, and may not be root.
constexpr const char* owner = "nobody";

std::string folder_of_owner(const std::string& path) {
    const passwd* entry = getpwnam(owner);
    if (!entry || mkdir(path.c_str(), 0700) != 0 ||
        chown(path.c_str(), entry->pw_uid, entry->pw_gid) != 0)
        throw std::runtime_error("a folder of " + std::string(owner));
    return path;
}

} // namespace

MariaDb::MariaDb() {
    const std::string data = folder_of_owner(folder_.path("data"));
    // Without grant tables it needs none, nor anything else that an installation would prepare.
    start(programs[0],
          {"--no-defaults", "--user=" + std::string(owner), "--datadir=" + data,
           "--socket=" + data + "/socket", "--pid-file=" + data + "/pid",
           "--log-error=" + data + "/errors", "--skip-networking", "--skip-grant-tables",
           "--max-connections=20", "--table-open-cache=100", "--innodb-buffer-pool-size=32M",
           "--innodb-log-file-size=16M",
           // Every statement is logged, with how long it took.
           "--slow-query-log", "--long-query-time=0", "--slow-query-log-file=" + data + "/log"});
    answer("create database shop;"
           "create table shop.orders (id int primary key, customer int, note varchar(80))"
           "  engine=innodb;"
           "insert into shop.orders select seq, seq % 100, concat('order ', seq)"
           "  from shop.seq_1_to_" +
           std::to_string(rows));
    std::ofstream file(folder_.path("load.sql"));
    for (int i = 0; i < statements; i++) {
        if (i % scan_every == scan_every / 2)
            file << "select count(*) from shop.orders where customer = " << i % 100 << ";\n";
        else
            file << "select note from shop.orders where id = " << 1 + i * 7919 % rows << ";\n";
    }
    // The last client's goodbye is a command, too, and its statement is logged behind the answer.
    if (!wait_until([&] { return connections() == 0; }))
        throw std::runtime_error("MariaDB keeps connections of clients that have ended");
    logged_durations();
}

size_t MariaDb::connections() const {
    const std::string path = " " + folder_.path("data/socket");
    size_t named = 0; // accepted ones have the listening socket's name
    std::ifstream sockets("/proc/net/unix");
    for (std::string line; std::getline(sockets, line);)
        named += line.ends_with(path);
    return named > 0 ? named - 1 : 0;
}

std::string MariaDb::answer(const std::string& statements) const {
    const Outcome outcome =
        run({programs[1], "--no-defaults", "--socket=" + folder_.path("data/socket"),
             "--skip-column-names", "-e", statements});
    if (outcome.code != 0)
        throw std::runtime_error("MariaDB: " + outcome.err);
    return outcome.out;
}

uint64_t MariaDb::load() {
    std::vector<std::future<std::string>> answers;
    for (int i = 0; i < clients; i++)
        answers.push_back(std::async(
            std::launch::async, [this] { return answer("source " + folder_.path("load.sql")); }));
    for (auto& future : answers) {
        const std::string rows_read = future.get(); // a row a statement
        if (std::count(rows_read.begin(), rows_read.end(), '\n') != statements)
            throw std::runtime_error("MariaDB did not answer every statement");
    }
    return uint64_t{clients} * statements;
}

void MariaDb::expect_answer() {
    if (answer("select 6 * 7") != "42\n")
        throw std::runtime_error("MariaDB answers wrongly");
}

std::vector<uint64_t> MariaDb::logged_durations() {
    std::vector<uint64_t> durations;
    constexpr std::string_view before = "# Query_time: ";
    for (const std::string& line : new_lines(folder_.path("data/log"))) {
        if (line.starts_with(before))
            durations.push_back(std::llround(std::stod(line.substr(before.size())) * 1e6) * 1000);
    }
    return durations;
}

uint64_t MariaDb::questions() const {
    const std::string name = "Questions\t", text = answer("show global status like 'Questions'");
    if (!text.starts_with(name) || !wait_until([&] { return connections() == 0; }))
        throw std::runtime_error("MariaDB does not count: " + text);
    return std::stoull(text.substr(name.size()));
}

bool MariaDb::is_cause(std::string_view function) const {
    return function.starts_with("rr_sequential"); // one row after the other
}

} // namespace auger::test
