// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/hostile/hostile_session.h"

#include "tests/hostile/process_figures.h"
#include "tests/support/http_client.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace auger::test {

using testing::HasSubstr;
using testing::Not;

void Hostile::SetUp() {
    LiveTest::SetUp();
    if (IsSkipped())
        return;
    auger_.emplace(std::vector<std::string>{"-a", "--serve", "unix:" + folder_.path("socket")});
    auger_->run({"exit ret", "sample 999"});
    // Of what runs already. Stacks of whoever comes before that are cut, attack or not.
    ASSERT_TRUE(wait_until([&] { return auger_->ask("status")["unwinding"]["pending"] == 0; }));
    memory_before_ = memory_of(auger_->pid(), "VmHWM");
    files_before_ = open_files_of(auger_->pid());
    ASSERT_GT(memory_before_, 0u);
    ASSERT_GT(files_before_, 0u);
    readers_.emplace(auger_->pid());
}

void Hostile::TearDown() {
    readers_.reset();
    attackers_.clear(); // whom a failed test has left
    for (const std::string& map : maps_)
        unlink(map.c_str());
    auger_.reset();
}

Program& Hostile::start(const std::string& name, uid_t user, unsigned number) {
    const std::string folder = folder_.path(std::to_string(attackers_.size()));
    std::filesystem::create_directory(folder);
    if (chown(folder.c_str(), user, user) != 0)
        throw std::runtime_error("chown " + folder);
    attackers_.push_back(
        {name, std::make_unique<Program>(
                   AUGER_ATTACKER, std::vector<std::string>{name, folder, std::to_string(user),
                                                            std::to_string(number)})});
    Program& program = *attackers_.back().program;
    maps_.push_back("/tmp/perf-" + std::to_string(program.pid()) + ".map");
    return program;
}

Program& Hostile::attack(const std::string& name, uid_t user) {
    Program& program = start(name, user, static_cast<unsigned>(auger().pid()));
    program.wait_ready();
    return program;
}

void Hostile::attack_with(const std::vector<std::string>& names) {
    const size_t before = attackers_.size();
    for (const std::string& name : names)
        start(name, nobody_in_particular, 1);
    for (size_t i = before; i < attackers_.size(); ++i)
        attackers_[i].program->wait_ready();
}

void Hostile::attack_by(unsigned processes, const std::string& name) {
    const size_t before = attackers_.size();
    for (unsigned i = 0; i < processes; ++i)
        start(name, nobody_in_particular, processes);
    for (size_t i = before; i < attackers_.size(); ++i)
        attackers_[i].program->wait_ready();
}

void Hostile::end_attacks() {
    for (const Attacker& attacker : attackers_)
        attacker.program->signal(SIGTERM);
    for (const Attacker& attacker : attackers_)
        EXPECT_EQ(attacker.program->wait_exit(), 0) << attacker.name;
}

std::chrono::nanoseconds Hostile::answer_time(LiveAuger& auger, const std::string& line) {
    const auto delays = [&] { return run_delay_of(auger.pid()) + own_run_delay(); };
    const std::chrono::nanoseconds waited = delays();
    const auto before = run_delays_of_family(auger.pid());
    const auto begin = std::chrono::steady_clock::now();
    auger.run({line});
    const auto took = std::chrono::steady_clock::now() - begin;
    // Of those that it waits for at most one at a time, the one that lacked a CPU most.
    std::chrono::nanoseconds helper{};
    for (const auto& [thread, delay] : run_delays_of_family(auger.pid()))
        if (thread != auger.pid()) {
            const auto known = before.find(thread);
            helper = std::max(helper, known == before.end() ? delay : delay - known->second);
        }
    return took - (delays() - waited) - helper;
}

void Hostile::expect_answers(LiveAuger& auger, int times) {
    for (int i = 0; i < times; ++i)
        // One that has nothing to do, one that lists, one that takes in all that came, an edit.
        for (const std::string& line :
             {std::string("echo anybody"), std::string("target"), std::string("wait 1ms"),
              std::string(i % 2 ? "window all" : "window 60s")})
            EXPECT_LT(answer_time(auger, line), std::chrono::seconds(1)) << line;
}

std::string Hostile::refusals() {
    // Who asks there does not wait for names, as the console's `status` does in a script.
    HttpClient client("unix:" + folder_.path("socket"));
    client.get("/status");
    EXPECT_TRUE(wait_until([&] { return client.closed(); }));
    EXPECT_EQ(client.status(), 200) << client.answer();
    const json status = json::parse(client.body());
    std::string all;
    for (const json& note : status["unwinding"]["notes"])
        all += note.get<std::string>() + "\n";
    return all;
}

std::set<std::string> Hostile::functions_of(const json& flame,
                                            const std::set<std::string>& labels) {
    std::set<std::string> functions;
    for (const json& entry : flame["stacks"])
        if (labels.contains(entry["stack"][0].get<std::string>()))
            for (size_t i = 1; i < entry["stack"].size(); ++i)
                functions.insert(entry["stack"][i].get<std::string>());
    return functions;
}

json Hostile::expect_truth(LiveAuger& auger, const Shop& shop) {
    EXPECT_EQ(shop.account["ok"], true) << shop.account;
    const json status = auger.ask("status");
    const json& calls = status["calls"];
    EXPECT_EQ(calls["entries"], shop.served());
    EXPECT_EQ(calls["returns"], shop.served());
    EXPECT_EQ(calls["unwound"], 0);
    EXPECT_EQ(calls["dropped"], 0);
    EXPECT_EQ(status["checks"]["calls"], true);
    const json flame = auger.ask("flame by comm");
    for (const char* who : {"clerk-0", "clerk-1", "apprentice"}) {
        const std::set<std::string> functions = functions_of(flame, {std::string(who)});
        for (const char* function : {"serve", "advise", "search", "truth_spin_us"})
            EXPECT_TRUE(functions.contains(function))
                << who << " without " << function << "; lost: " << status["lost"]
                << "; unwinding: " << status["unwinding"]
                << "; its functions: " << testing::PrintToString(functions);
        for (const std::string& function : functions)
            EXPECT_THAT(function, Not(HasSubstr("evil")));
    }
    // Whatever anybody calls himself acts on nothing.
    for (const json& entry : flame["stacks"])
        for (const json& part : entry["stack"])
            EXPECT_TRUE(std::ranges::none_of(part.get<std::string>(), [](unsigned char c) {
                return c < 0x20 || c == 0x7f;
            })) << part;
    return flame;
}

void Hostile::expect_within_budgets() {
    EXPECT_LE(memory_of(auger().pid(), "VmHWM") - memory_before_, auger_memory_budget);
    EXPECT_LE(readers_->most(), readers_memory_budget);
    EXPECT_GT(readers_->looks(), 0u);
    EXPECT_LE(open_files_of(auger().pid()), files_before_ + open_files_budget);
}

void Hostile::expect_an_unharmed_shop() {
    expect_answers(auger(), 5);
    Shop shop;
    const std::string probe = "'" + program_path("shop") + ":serve'";
    auger().run({"time " + probe});
    shop.open();
    expect_answers(auger(), 5);
    shop.close();
    expect_answers(auger(), 5);
    expect_within_budgets();
    end_attacks();
    auger().run(
        {"wait until entries " + probe + " >= " + std::to_string(shop.served()) + " for 60s",
         "sample off"});
    const json flame = expect_truth(auger(), shop);
    // The attacks have been seen, or nothing here says anything. (Some go by other names.)
    const std::set<std::string> labels = labels_of(flame);
    for (const Attacker& attacker : attackers_) {
        const bool seen = attacker.name == "renames" || labels.contains("evil-" + attacker.name);
        EXPECT_TRUE(seen) << attacker.name;
    }
    expect_within_budgets();
}

} // namespace auger::test
