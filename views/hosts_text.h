// SPDX-License-Identifier: GPL-3.0-or-later
// How observed hosts are, in words: a row each of `status`. Changes with HostReport.
#pragma once

#include "loader/reports/host_report.h"

#include <string>
#include <vector>

namespace auger {

struct HostRow {
    std::string text; // raw where it is a host's
    bool fine = true;
};

std::vector<HostRow> host_rows(const std::vector<HostReport>&);

} // namespace auger
