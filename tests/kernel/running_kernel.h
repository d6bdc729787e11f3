// SPDX-License-Identifier: GPL-3.0-or-later
// The running kernel's release.
#pragma once

#include <sys/utsname.h>

#include <compare>
#include <cstdio>

namespace auger::test {

struct KernelRelease {
    int major = 0, minor = 0;
    auto operator<=>(const KernelRelease&) const = default;
};

inline KernelRelease running_kernel() {
    utsname name{};
    KernelRelease release;
    if (uname(&name) == 0)
        std::sscanf(name.release, "%d.%d", &release.major, &release.minor);
    return release;
}

} // namespace auger::test
