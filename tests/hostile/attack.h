// SPDX-License-Identifier: GPL-3.0-or-later
// Attack: what an attacker does, a step of some milliseconds at a time, until somebody ends it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace auger::test {

class Attack {
  public:
    virtual ~Attack() = default; // tidies up what is elsewhere than in its folder
    virtual void step() = 0;
};

// Where it is, and what it has.
struct AttackPlace {
    std::string folder;    // of its own
    std::string name;      // of the attack
    int self;              // the attacker's program, open
    std::string honest;    // the library honest.c
    unsigned number;       // of "execs": processes like this one; of "signals": the auger's
    bool executed = false; // by itself: all files are there
};

struct AttackKind {
    const char* name;
    std::unique_ptr<Attack> (*make)(const AttackPlace& place);
};

// One file each.
std::span<const AttackKind> mapped_file_attacks();
std::span<const AttackKind> changing_file_attacks();
std::span<const AttackKind> generated_code_attacks();
std::span<const AttackKind> process_attacks();

// Ends the attacker, which could not do what it is for, or was harmed.
[[noreturn]] void fail(const std::string& what);

} // namespace auger::test
