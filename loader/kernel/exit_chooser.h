// SPDX-License-Identifier: GPL-3.0-or-later
// ExitChooser: how the ends of a function's calls are seen, by what was asked for, what this kernel
// can, and what is proven of the target. Changes when another way out comes, or another reason for
// one.
#pragma once

#include "loader/kernel/attachment.h"
#include "loader/kernel/features.h"
#include "loader/kernel/module_catalogue.h"
#include "loader/kernel/target_view.h"
#include "loader/probes/place_match.h"
#include "loader/probes/unwind_proof.h"
#include "loader/settings/way_out.h"

#include <string>

namespace auger {

class ExitChooser {
  public:
    ExitChooser(const Features& features, ModuleCatalogue& catalogue, AttachWay way)
        : features_(features), catalogue_(catalogue), way_(way) {}

    struct Choice {
        ExitWay exit;
        std::string why; // not empty when it is worth telling
    };
    Choice choose(const PlaceMatch& match, const TargetModule& module, const TargetView& view,
                  WayOut way_out, const UnwindProof& proof) const;
    // That return probes harm nobody of the target.
    UnwindProof prove(const TargetView& view) const;

  private:
    const Features& features_;
    ModuleCatalogue& catalogue_;
    AttachWay way_;
};

} // namespace auger
