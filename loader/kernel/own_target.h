// SPDX-License-Identifier: GPL-3.0-or-later
// OwnTarget: auger itself as a process that is observed, while it lasts: what observing costs is
// measured on threads of our own. For no longer than that takes, since whatever else auger does
// would be observed, too. Its samples are not sent.
#pragma once

#include "loader/kernel/programs.h"

#include <cstdint>

namespace auger {

class OwnTarget {
  public:
    explicit OwnTarget(Programs& programs);
    ~OwnTarget();
    OwnTarget(const OwnTarget&) = delete;
    OwnTarget& operator=(const OwnTarget&) = delete;

  private:
    Programs& programs_;
    uint32_t pid_;
    bool is_set_ = false;
};

} // namespace auger
