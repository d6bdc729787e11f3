// SPDX-License-Identifier: GPL-3.0-or-later
// Carries out a plan on the Backend and the Services. When an operation fails, those before it are
// reversed, last first, so that what was in force before still is.
#pragma once

#include "repl/services/services.h"
#include "repl/session/plan.h"

#include <map>
#include <optional>

namespace auger {

struct Execution {
    std::optional<Error> error;             // with what could not be reversed in its hint
    std::map<ProbeId, ProbeReport> reports; // of probes that were added
    // Probes that came back under another id: a Backend never sees an id twice.
    std::vector<Rename> renames;
    std::string note{}; // what it did otherwise than asked; may be empty
};

class Executor {
  public:
    Executor(Backend& backend, Services& services) : backend_(backend), services_(services) {}

    Execution run(const std::vector<Operation>& operations);

    // An id that no probe has had yet; taken when a probe with it has been added.
    ProbeId fresh_id() const { return next_; }
    void reserve_through(ProbeId id) { next_ = std::max(next_, ProbeId{id.value + 1}); }

  private:
    Result<void> apply(const Operation& operation, Execution& execution);
    void roll_back(const std::vector<Operation>& done, Execution& execution);

    Backend& backend_;
    Services& services_;
    ProbeId next_{1};
};

} // namespace auger
