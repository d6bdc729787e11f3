// SPDX-License-Identifier: GPL-3.0-or-later
// Frames of a flame whose name fits an expression, in the order of the picture, and their share. A
// tree may have a million frames, so all is found in steps: a sweep over the frames, and then the
// way to another match.
#pragma once

#include "views/screen/flame_boxes.h"
#include "views/screen/pattern.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace auger {

class FlameSearch {
  public:
    // What is searched; another `generation` of the tree numbers its nodes anew.
    struct Place {
        const Model& model;
        const FlameTree& tree;
        uint64_t generation;
        uint32_t root; // frames at and below it
        Weight weight;
        uint32_t cursor;
    };
    // To the match that fits best, and of those the one with the most weight, which is what
    // somebody who searches most likely means, or to the one after (before) the cursor; at the end
    // to the first (last) again.
    enum class Jump : uint8_t { none, best, next, previous };

    // Nothing ends the search. Returns the error of an expression that is none.
    std::string start(const std::optional<std::string>& expression);
    bool active() const { return pattern_.has_value(); }
    bool matches(const Model& model, const FlameTree& tree, uint32_t node) {
        return fit(model, tree, node) != Pattern::Fit::none;
    }

    bool found_whole(const Model& model, const FlameTree& tree, uint32_t node) {
        return fit(model, tree, node) == Pattern::Fit::whole;
    }

    // The next work() looks through all frames once more.
    void sweep_again() { swept_to_ = 0; }
    // Takes the place of one that is on its way.
    void jump(Jump);
    // About so many looks at a frame; returns whether something is left to do.
    bool work(const Place&, size_t looks);
    // Where a jump has led, once.
    std::optional<uint32_t> arrived() { return std::exchange(arrived_, std::nullopt); }

    // "3 of 17, 12.3 %", of which the third is where the last jump led; empty without a search.
    std::string text() const;

  private:
    Pattern::Fit fit(const Model&, const FlameTree&, uint32_t node);
    bool better(const Place&, uint32_t node, uint32_t than);
    bool sweep(const Place&, size_t& looks);
    bool look_for_match(const Place&, size_t& looks);
    bool count_before(const Place&, size_t& looks);
    void look(const Place&, uint32_t node, size_t& looks);
    bool still_matches(const Place&, uint32_t node);

    std::optional<Pattern> pattern_;
    static constexpr int8_t unknown = -1;
    std::vector<int8_t> by_function_; // how well it fits, as Pattern::Fit; or unknown

    // Of the last whole sweep.
    std::vector<uint32_t> found_; // nodes, in no order; some may have gone since
    double share_ = 0;            // of the root's weight, each sample once
    bool known_ = false;          // there has been one
    size_t number_ = 0;           // in found_, from 1; 0: nowhere yet

    // Of the present one.
    uint64_t generation_ = 0;
    uint32_t root_ = 0;
    Weight weight_ = Weight::time;
    size_t swept_to_ = 0; // node
    std::vector<uint32_t> finding_;
    double matched_ = 0;

    Jump jump_ = Jump::none;
    bool counting_ = false; // the match is known: how many come before it?
    size_t at_ = 0;         // in found_
    uint32_t best_ = no_node, first_ = no_node;
    size_t before_ = 0;
    std::optional<uint32_t> arrived_;
};

} // namespace auger
