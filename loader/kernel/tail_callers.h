// SPDX-License-Identifier: GPL-3.0-or-later
// TailCallers: from where functions are called that end by jumps to others: what they jump to comes
// back there. Changes when such calls are to be found in another way.
#pragma once

#include "loader/kernel/target_view.h"
#include "loader/probes/code_readers.h"
#include "loader/probes/place_match.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace auger {

class TailCallers {
  public:
    // Of the target as it is in `view`, which outlives this.
    TailCallers(CodeReaders& readers, const TargetView& view) : readers_(readers), view_(view) {}

    // Call instructions that call a function, by its name; each name is looked up once.
    const std::vector<PlaceMatch>& of(const std::string& function) { return known(function).calls; }
    // Files of the owner of this one, who may call the function, are still being read.
    bool not_yet(const std::string& function, size_t module);
    static bool calls(const PlaceMatch& caller, size_t module, uint64_t function);
    // Why a jump cannot be timed; empty when it can.
    std::string no_way_back(const PlaceMatch& match);

  private:
    struct Known {
        std::vector<PlaceMatch> calls;
        std::vector<size_t> being_read;
    };
    const Known& known(const std::string& function);

    CodeReaders& readers_;
    const TargetView& view_;
    std::map<std::string, Known> known_;
};

} // namespace auger
