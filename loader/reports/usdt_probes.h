// SPDX-License-Identifier: GPL-3.0-or-later
// The USDT probes that files have. Changes when more is told of one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace auger {

struct UsdtProbeInfo {
    std::string module; // path
    std::string provider, name;
    std::string arguments; // as the note of its first site has them
    bool semaphore = false;
    size_t sites = 1;
};

struct UsdtProbes {
    std::vector<UsdtProbeInfo> probes; // by file, in the order of their first sites
    std::vector<std::string> skipped;  // sites that cannot be probed, with the reason

    void add_site(UsdtProbeInfo site) {
        const auto known = std::ranges::find_if(probes, [&](const UsdtProbeInfo& probe) {
            return probe.module == site.module && probe.provider == site.provider &&
                   probe.name == site.name;
        });
        if (known == probes.end())
            probes.push_back(std::move(site));
        else
            known->sites++;
    }
};

} // namespace auger
