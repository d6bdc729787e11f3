// SPDX-License-Identifier: GPL-3.0-or-later
// A machine on which somebody attacks: auger observes all of it, attackers come, and then a shop
// that knows its own truth (tests/programs/shop) opens beside them.
#pragma once

#include "tests/cli/live_auger.h"
#include "tests/hostile/reader_memory.h"

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace auger::test {

// Whatever attackers bring along: auger keeps descriptors, names and tables of it, no contents.
// README.md says what these are made of.
inline constexpr uint64_t auger_memory_budget = uint64_t{256} << 20;
inline constexpr uint64_t readers_memory_budget = uint64_t{1} << 30;
inline constexpr uint64_t open_files_budget = 4096;

class Hostile : public LiveTest {
  protected:
    // Users of whom the machine knows nothing, and one whom it knows well.
    static constexpr uid_t nobody_in_particular = 64'001, nobody = 65'534;

    void SetUp() override;
    void TearDown() override;

    // Comes and is at work. In a folder of its own below folder_.
    Program& attack(const std::string& name, uid_t user = nobody_in_particular);
    void attack_with(const std::vector<std::string>& names);
    // The same attack by so many.
    void attack_by(unsigned processes, const std::string& name);
    // They end by themselves, unharmed, when they are told to.
    void end_attacks();

    // A shop comes, is timed and opens; while it is open the console is asked again and again. All
    // that must hold during and after an attack does, whatever it was. Ends the attacks.
    void expect_an_unharmed_shop();

    LiveAuger& auger() { return *auger_; }
    // What `status` says of files that are not, or not wholly, read: one text.
    std::string refusals();
    // Of `flame`: what functions were seen under these labels.
    static std::set<std::string> functions_of(const json& flame,
                                              const std::set<std::string>& labels);

    // What asking took, less what the machine had no CPU for: that is nobody's attack.
    std::chrono::nanoseconds answer_time(LiveAuger& auger, const std::string& line);
    void expect_answers(LiveAuger& auger, int times);
    // Every call counted that there was, with names: of the shop that has closed. Returns `flame by
    // comm`.
    static json expect_truth(LiveAuger& auger, const Shop& shop);

  private:
    struct Attacker {
        std::string name;
        std::unique_ptr<Program> program;
    };
    Program& start(const std::string& name, uid_t user, unsigned number);
    void expect_within_budgets();

    std::optional<LiveAuger> auger_;
    std::optional<ReaderMemory> readers_;
    uint64_t memory_before_ = 0, files_before_ = 0;
    std::vector<Attacker> attackers_;
    std::vector<std::string> maps_; // of generated code, that attackers may have left
};

} // namespace auger::test
