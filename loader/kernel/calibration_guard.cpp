// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/calibration_guard.h"

namespace auger {

CalibrationGuard::CalibrationGuard(Programs& programs, wire_calibration events)
    : programs_(programs), events_(events) {
    auto& config = programs_.config();
    config.calibrating = config.calibrating | events_;
    programs_.renew_scope();
}

// In this order: no thread is found to be observed in the new scope.
CalibrationGuard::~CalibrationGuard() {
    auto& config = programs_.config();
    config.calibrating = config.calibrating & ~events_;
    programs_.renew_scope();
}

} // namespace auger
