// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/hostile/attack_mapping.h"

#include "tests/hostile/attack.h"
#include "tests/hostile/attack_code.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace auger::test {

AttackMapping::AttackMapping(int fd, uint64_t offset)
    : memory_(
          mmap(nullptr, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, static_cast<off_t>(offset))) {
    if (memory_ == MAP_FAILED)
        fail("map a file");
}

AttackMapping::AttackMapping()
    : memory_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED)
        fail("map memory");
    std::memcpy(memory_, attack_code, sizeof attack_code);
    if (mprotect(memory_, size, PROT_READ | PROT_EXEC) != 0)
        fail("make memory executable");
}

AttackMapping::AttackMapping(AttackMapping&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)) {}

AttackMapping::~AttackMapping() {
    if (memory_)
        munmap(memory_, size);
}

void AttackMapping::run(uint64_t turns) const {
    const auto function = reinterpret_cast<uint64_t (*)(uint64_t)>(memory_);
    if (function(turns) != attack_result(turns))
        fail("the attacker's own code does something else");
}

void rest_ms(unsigned milliseconds) {
    usleep(milliseconds * 1000);
}

int open_file(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail("open " + path);
    return fd;
}

} // namespace auger::test
