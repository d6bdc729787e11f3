// SPDX-License-Identifier: GPL-3.0-or-later
// OverheadControl: keeps what observing costs within its limit. What it does is an edit like one of
// the user's: told, and taken back by `undo`.
#pragma once

#include "repl/services/brake.h"
#include "repl/services/services.h"
#include "repl/session/editor.h"

namespace auger {

class OverheadControl {
  public:
    OverheadControl(Backend& backend, const Model& model, Services& services, Editor& editor)
        : backend_(backend), model_(model), services_(services), editor_(editor) {}

    // Takes less, when observing takes too much; see Brake. False when there was nothing to do.
    bool work();

  private:
    // Whether something has changed.
    bool act(const BrakeAction& action, const Overhead& span);

    Backend& backend_;
    const Model& model_;
    Services& services_;
    Editor& editor_;
    Brake brake_;
};

} // namespace auger
