// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/redis.h"

#include "tests/support/run.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <future>
#include <stdexcept>
#include <vector>

namespace auger::test {

Redis::Redis() : port_(free_port()) {
    const std::string server = folder_.path("redis-server");
    std::filesystem::create_symlink(programs[0], server);
    start(server, {"--port", std::to_string(port_), "--bind", "127.0.0.1", "--save", "", "--dir",
                   folder_.path(""), "--logfile", folder_.path("log")});
}

std::string Redis::ask(const std::vector<std::string>& command) const {
    std::vector<std::string> words{programs[1], "-p", std::to_string(port_)};
    words.insert(words.end(), command.begin(), command.end());
    const Outcome outcome = run(words);
    if (outcome.code != 0)
        throw std::runtime_error("redis does not answer: " + outcome.out + outcome.err);
    return outcome.out;
}

void Redis::expect_answer() {
    if (ask({"ping"}) != "PONG\n")
        throw std::runtime_error("no PONG");
}

void Redis::load() const {
    std::vector<std::future<void>> clients;
    for (int client = 0; client < 4; client++)
        clients.push_back(std::async(std::launch::async, [this] {
            ask({"-r", "500", "get", "key"});
        }));
    clients.push_back(std::async(std::launch::async, [this] {
        for (int i = 0; i < 10; i++)
            ask({"eval", "local x = 0 for i = 1, 1000000 do x = x + i end return x", "0"});
    }));
    for (auto& client : clients)
        client.get();
}

uint64_t Redis::commands() const {
    const std::string text = ask({"info", "stats"}), name = "total_commands_processed:";
    const size_t at = text.find(name);
    if (at == text.npos)
        throw std::runtime_error("no " + name + " in " + text);
    return std::stoull(text.substr(at + name.size()));
}

void Redis::log_all() const {
    ask({"config", "set", "slowlog-max-len", "100000"});
    ask({"config", "set", "slowlog-log-slower-than", "0"});
    ask({"slowlog", "reset"});
}

std::vector<double> Redis::logged_durations() const {
    std::vector<double> durations;
    // number, time, duration, words, client, its name
    for (const auto& command : nlohmann::json::parse(ask({"--json", "slowlog", "get", "-1"})))
        if (const auto& name = command.at(3).at(0); name == "get" || name == "eval")
            durations.push_back(1e3 * command.at(2).get<double>());
    return durations;
}

} // namespace auger::test
