// SPDX-License-Identifier: GPL-3.0-or-later
// CurrentView: what the target is made of now, looked up again when something of it has changed and
// somebody asks. Changes when more is to be known of a target.
#pragma once

#include "loader/kernel/live_target.h"
#include "loader/kernel/module_catalogue.h"
#include "loader/kernel/target_view.h"

#include <vector>

namespace auger {

class CurrentView {
  public:
    CurrentView(const LiveTarget& target, ModuleCatalogue& catalogue)
        : target_(target), catalogue_(catalogue) {}

    const TargetView& get();
    // As get() answered the last time.
    const TargetView& latest() const { return view_; }
    // Processes or their modules have changed.
    void expire() { is_old_ = true; }

    // There is another target.
    void begin_anew();
    // See TargetView.
    bool births_often() const { return births_often_; }
    void note_births_often();

  private:
    // Processes come and go, maybe faster than anybody looks: what one has mapped the next will.
    void keep_modules(std::vector<TargetModule> former);

    const LiveTarget& target_;
    ModuleCatalogue& catalogue_;
    TargetView view_;
    bool is_old_ = true;
    bool births_often_ = false;
};

} // namespace auger
