// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/live_auger.h"

#include "tests/cli/invocation.h"

#include <algorithm>
#include <fstream>

namespace auger::test {

namespace {

std::vector<std::string> as_typed(std::vector<std::string> arguments, Program::Input input) {
    if (input == Program::Input::terminal) {
        arguments.insert(arguments.begin(), {"--json", "--prompt"});
        return arguments;
    }
    arguments.insert(arguments.begin(), {"--batch", "--json", "--keep-going"});
    arguments.insert(arguments.end(), {"-f", "-"});
    return arguments;
}

} // namespace

LiveAuger::LiveAuger(std::vector<std::string> arguments, Program::Input input)
    : program_(AUGER_BINARY, as_typed(std::move(arguments), input), input),
      is_script_(input != Program::Input::terminal) {
    (void)all(""); // what the options said
}

LiveAuger::~LiveAuger() {
    const BpfObjects held = BpfObjects::held_by(pid());
    try {
        program_.say("quit");
        while (!program_.read_line().empty()) {
        }
        EXPECT_EQ(program_.wait_exit(), script_failed_ ? 1 : 0);
    } catch (const std::exception& failure) {
        ADD_FAILURE() << failure.what();
    }
    EXPECT_TRUE(held.wait_gone()) << "left behind";
}

std::vector<json> LiveAuger::all(const std::string& line) {
    const std::string mark = "mark " + std::to_string(++marks_);
    program_.say(line);
    program_.say("echo " + mark);
    std::vector<json> answers;
    for (;;) {
        const std::string text = program_.read_line();
        if (text.empty())
            throw std::runtime_error("auger ended at: " + line);
        // A prompt says what is typed, too.
        const size_t begin = text.find("{\"");
        if (begin == text.npos)
            continue;
        json answer = json::parse(text.substr(begin));
        if (answer.value("message", "") == mark)
            return answers;
        if (answer.value("command", "") == "notice")
            notices.push_back(answer["message"]);
        else if (answer.contains("command"))
            answers.push_back(std::move(answer));
    }
}

json LiveAuger::ask(const std::string& line) {
    const std::vector<json> answers = all(line);
    if (answers.size() != 1 || answers[0].contains("error")) {
        ADD_FAILURE() << line << ": " << json(answers).dump(1).substr(0, 1000);
        return answers.empty() ? json::object() : answers.back();
    }
    return answers[0];
}

std::string LiveAuger::error(const std::string& line) {
    script_failed_ = is_script_;
    const std::vector<json> answers = all(line);
    if (answers.size() != 1 || !answers[0].contains("error")) {
        ADD_FAILURE() << line << " is no error";
        return {};
    }
    const json& error = answers[0]["error"];
    return error["message"].get<std::string>() + " (" + error["hint"].get<std::string>() + ")";
}

void LiveAuger::run(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        for (const json& answer : all(line))
            EXPECT_FALSE(answer.contains("error"))
                << line << ": " << answer << "\nnotices: " << json(notices)
                << "\nstatus: " << json(all("status"));
}

void LiveTest::see_all(LiveAuger& auger, Shop& shop, const std::string& probe) {
    shop.open();
    shop.close();
    // It has closed: no call of a clerk or the apprentice comes any more.
    auger.run(
        {"wait until entries " + probe + " >= " + std::to_string(shop.served()) + " for 60s"});
}

void LiveTest::skip_without_exchanges() {
    const Outcome doctor = test::auger({"--batch", "-e", "doctor"});
    if (doctor.out.find("no `span NAME exchanges`") != std::string::npos)
        GTEST_SKIP() << "this kernel has no tracepoints of sockets";
}

double cpu_ns_in(const json& flame, const std::string& function) {
    double sum = 0;
    for (const json& entry : flame["stacks"])
        if (std::ranges::find(entry["stack"], json(function)) != entry["stack"].end())
            sum += entry["cpu"].get<double>();
    return sum;
}

double ns_in(const json& flame, const std::string& function) {
    double sum = 0;
    for (const json& entry : flame["stacks"]) {
        if (std::ranges::find(entry["stack"], json(function)) == entry["stack"].end())
            continue;
        for (const char* kind : {"cpu", "blocked", "runnable"})
            sum += entry.value(kind, 0.0);
    }
    return sum;
}

std::set<std::string> labels_of(const json& flame) {
    std::set<std::string> labels;
    for (const json& entry : flame["stacks"])
        labels.insert(entry["stack"][0].get<std::string>());
    return labels;
}

double samples_of(const json& flame) {
    double sum = 0;
    for (const json& entry : flame["stacks"])
        sum += entry["samples"].get<double>();
    return sum;
}

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace auger::test
