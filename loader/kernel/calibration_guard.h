// SPDX-License-Identifier: GPL-3.0-or-later
// CalibrationGuard: while it lasts auger's own threads are observed, for one kind of event,
// whatever the target and the filter are: what observing costs is measured on them. They are
// neither sent nor counted. Of other kinds nothing is observed of auger, or what it does meanwhile
// would be taken for the target's: its calls of a library in which the user has a probe, for
// instance.
#pragma once

#include "loader/kernel/programs.h"

namespace auger {

class CalibrationGuard {
  public:
    // Not two of one kind at a time.
    CalibrationGuard(Programs& programs, wire_calibration events);
    ~CalibrationGuard();
    CalibrationGuard(const CalibrationGuard&) = delete;
    CalibrationGuard& operator=(const CalibrationGuard&) = delete;

  private:
    Programs& programs_;
    const uint32_t events_;
};

} // namespace auger
