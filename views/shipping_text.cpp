// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shipping_text.h"

#include "views/format.h"

#include <fmt/format.h>

namespace auger {
namespace {

std::string count(uint64_t n) {
    return format_count(static_cast<double>(n));
}

} // namespace

std::string shipping_sum(const ShippingStatus& status, uint64_t ShippingStatus::Count::*of) {
    return fmt::format("{} found + {} written = {} shipped + {} refused + {} given up + {} waiting",
                       count(status.found.*of), count(status.written.*of),
                       count(status.shipped.*of), count(status.refused.*of),
                       count(status.given_up.*of), count(status.waiting.*of));
}

std::vector<std::string> shipping_notes(const ShippingStatus& status) {
    std::vector<std::string> notes;
    if (status.unwritten)
        notes.push_back(fmt::format("{} intervals could not be written to the spool, and are lost",
                                    count(status.unwritten)));
    if (status.evicted)
        notes.push_back(fmt::format("{} samples had left the store before their interval was "
                                    "written, and are lost",
                                    count(status.evicted)));
    if (status.late)
        notes.push_back(fmt::format("{} samples came after their interval was written, and are "
                                    "lost to the receiver",
                                    count(status.late)));
    if (status.rejected)
        notes.push_back(fmt::format("{} profiles in what was shipped were rejected by the receiver",
                                    count(status.rejected)));
    if (!status.problem.empty())
        notes.push_back("the receiver takes none now: " + status.problem);
    return notes;
}

} // namespace auger
