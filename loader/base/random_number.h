// SPDX-License-Identifier: GPL-3.0-or-later
// A number that nobody else has: for what is told apart by chance. Hardly ever changes.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace auger {

// Never 0. (std::random_device of a libstdc++ that is linked statically wants a glibc of 2022,
// packaging/tarball.)
inline uint64_t random_number() {
    uint64_t number = 0;
    if (getentropy(&number, sizeof number) != 0)
        throw std::system_error(errno, std::generic_category(), "no random number");
    return number ? number : 1;
}

} // namespace auger
