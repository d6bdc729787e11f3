// SPDX-License-Identifier: GPL-3.0-or-later
// AttackMapping: code that an attacker runs, of a file or of none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace auger::test {

class AttackMapping {
  public:
    static constexpr size_t size = 4096;

    // Of the file's page at that place; of no file.
    AttackMapping(int fd, uint64_t offset);
    AttackMapping();
    ~AttackMapping();
    AttackMapping(AttackMapping&& other) noexcept;
    AttackMapping& operator=(AttackMapping&&) = delete;

    // Runs it, and ends the attacker when what comes back is wrong.
    void run(uint64_t turns) const;
    uint64_t address() const { return reinterpret_cast<uint64_t>(memory_); }

  private:
    void* memory_;
};

// Some half a millisecond on most machines.
inline constexpr uint64_t turns_of_a_step = 1'000'000;

// In between, so that an attack of several processes leaves others some of the machine.
void rest_ms(unsigned milliseconds);

// Fails when there is none.
int open_file(const std::string& path);

} // namespace auger::test
