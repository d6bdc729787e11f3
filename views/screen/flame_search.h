// SPDX-License-Identifier: GPL-3.0-or-later
// Frames of a flame whose name fits an expression, in the order of the picture, and their share.
#pragma once

#include "views/screen/flame_boxes.h"
#include "views/screen/pattern.h"

#include <optional>
#include <string>
#include <vector>

namespace auger {

class FlameSearch {
  public:
    // Nothing ends the search. Returns the error of an expression that is none.
    std::string start(const std::optional<std::string>& expression);
    bool active() const { return pattern_.has_value(); }

    // Counts the frames at and below `root`.
    void update(const Model&, const FlameTree&, uint32_t root, Weight);
    bool matches(const Model&, const FlameTree&, uint32_t node);
    // The match after (before) a node, of the tree of the last update(); at the end the first
    // (last) again.
    std::optional<uint32_t> step(const Model&, const FlameTree&, uint32_t from, bool forward);
    // The match with the most weight: what somebody who searches most likely means.
    std::optional<uint32_t> heaviest(const Model&, const FlameTree&, Weight);
    // "3 of 17, 12.3 %", of which the third is where step() went last; empty without a search.
    std::string text() const;

  private:
    void number_of(const Model&, const FlameTree&, uint32_t match);
    std::optional<Pattern> pattern_;
    std::vector<int8_t> by_function_; // -1: not known yet
    std::vector<uint32_t> found_;     // nodes, in no order
    double share_ = 0;                // of the root's weight, each sample once
    size_t number_ = 0;               // in found_, from 1; 0: nowhere yet
};

} // namespace auger
