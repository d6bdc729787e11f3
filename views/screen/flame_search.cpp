// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_search.h"

#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

constexpr size_t all_of_it = SIZE_MAX; // as swept_to_: the sweep is through

// In the picture, outer frames come first, then siblings by their names.
bool comes_before(const Model& model, const FlameTree& tree, uint32_t a, uint32_t b) {
    const uint32_t depth_a = tree.nodes[a].depth, depth_b = tree.nodes[b].depth;
    while (tree.nodes[a].depth > tree.nodes[b].depth)
        a = tree.nodes[a].parent;
    while (tree.nodes[b].depth > tree.nodes[a].depth)
        b = tree.nodes[b].parent;
    if (a == b)
        return depth_a < depth_b;
    while (tree.nodes[a].parent != tree.nodes[b].parent) {
        a = tree.nodes[a].parent;
        b = tree.nodes[b].parent;
    }
    const auto name_a = node_name(model, tree, tree.nodes[a]),
               name_b = node_name(model, tree, tree.nodes[b]);
    return name_a != name_b ? name_a < name_b : a < b;
}
constexpr size_t looks_to_compare = 32; // about as many frames lie on two paths

void spend(size_t& looks, size_t some) {
    looks -= std::min(looks, some);
}

} // namespace

std::string FlameSearch::start(const std::optional<std::string>& expression) {
    *this = {};
    if (!expression)
        return {};
    auto compiled = Pattern::compile(*expression);
    if (!compiled)
        return compiled.error().message();
    pattern_ = std::move(*compiled);
    return {};
}

Pattern::Fit FlameSearch::fit(const Model& model, const FlameTree& tree, uint32_t node) {
    if (!pattern_)
        return Pattern::Fit::none;
    const FlameNode& at = tree.nodes[node];
    if (at.depth < 2)
        return pattern_->fit(node_name(model, tree, at));
    const size_t index = at.function.index();
    if (index >= by_function_.size())
        by_function_.resize(std::max(index + 1, model.symbols().functions()), unknown);
    if (by_function_[index] == unknown)
        by_function_[index] =
            static_cast<int8_t>(pattern_->fit_either(model.symbols().name(at.function)));
    return static_cast<Pattern::Fit>(by_function_[index]);
}

bool FlameSearch::better(const Place& place, uint32_t node, uint32_t than) {
    const auto one = fit(place.model, place.tree, node), other = fit(place.model, place.tree, than);
    return one != other ? one < other
                        : weight_of(place.tree, node, place.weight) >
                              weight_of(place.tree, than, place.weight);
}

bool FlameSearch::still_matches(const Place& place, uint32_t node) {
    return weight_of(place.tree, node, place.weight) > 0 && matches(place.model, place.tree, node);
}

void FlameSearch::jump(Jump to) {
    jump_ = to;
    counting_ = false;
    at_ = before_ = 0;
    best_ = first_ = no_node;
    arrived_.reset();
}

bool FlameSearch::work(const Place& place, size_t looks) {
    if (!pattern_)
        return false;
    if (place.generation != generation_) { // other numbers: nothing that was found is any more
        found_.clear();
        known_ = false;
    }
    if (place.generation != generation_ || place.root != root_ || place.weight != weight_) {
        generation_ = place.generation;
        root_ = place.root;
        weight_ = place.weight;
        sweep_again();
        jump(jump_);
    }
    if (sweep(place, looks))
        return true;
    if (jump_ == Jump::none)
        return false;
    if ((!counting_ && look_for_match(place, looks)) || count_before(place, looks))
        return true;
    if (best_ != no_node && still_matches(place, best_)) {
        number_ = before_ + 1;
        arrived_ = best_;
    }
    jump_ = Jump::none;
    return false;
}

bool FlameSearch::sweep(const Place& place, size_t& looks) {
    if (swept_to_ == all_of_it)
        return false;
    if (swept_to_ == 0) {
        finding_.clear();
        matched_ = 0;
    }
    for (; swept_to_ < place.tree.nodes.size(); swept_to_++) {
        if (looks == 0)
            return true;
        look(place, static_cast<uint32_t>(swept_to_), looks);
    }
    swept_to_ = all_of_it;
    found_ = std::move(finding_);
    finding_ = {};
    const double whole = weight_of(place.tree, place.root, place.weight);
    share_ = whole > 0 ? matched_ / whole : 0;
    number_ = std::min(number_, found_.size());
    known_ = true;
    jump(jump_);
    return false;
}

void FlameSearch::look(const Place& place, uint32_t node, size_t& looks) {
    spend(looks, 1);
    if (!still_matches(place, node))
        return;
    const uint32_t top = place.tree.nodes[place.root].depth;
    if (place.tree.nodes[node].depth < top)
        return;
    // Below the root? And within another match, which counts its weight already?
    bool inside = false;
    uint32_t at = node;
    while (place.tree.nodes[at].depth > top && !(inside && place.root == 0)) {
        at = place.tree.nodes[at].parent;
        inside = inside || matches(place.model, place.tree, at);
        spend(looks, 1);
    }
    if (place.root != 0 && at != place.root)
        return;
    finding_.push_back(node);
    if (!inside)
        matched_ += weight_of(place.tree, node, place.weight);
}

bool FlameSearch::look_for_match(const Place& place, size_t& looks) {
    const auto before = [&](uint32_t a, uint32_t b) {
        spend(looks, looks_to_compare);
        return jump_ == Jump::next ? comes_before(place.model, place.tree, a, b)
                                   : comes_before(place.model, place.tree, b, a);
    };
    for (; at_ < found_.size(); at_++) {
        if (looks == 0)
            return true;
        const uint32_t node = found_[at_];
        spend(looks, 1);
        if (!still_matches(place, node))
            continue;
        if (jump_ == Jump::best) {
            if (best_ == no_node || better(place, node, best_))
                best_ = node;
            continue;
        }
        // The nearest behind the cursor, and the first of all.
        if (node != place.cursor && before(place.cursor, node) &&
            (best_ == no_node || before(node, best_)))
            best_ = node;
        if (best_ == no_node && (first_ == no_node || before(node, first_)))
            first_ = node;
    }
    if (best_ == no_node)
        best_ = first_;
    counting_ = true;
    at_ = 0;
    return false;
}

bool FlameSearch::count_before(const Place& place, size_t& looks) {
    for (; best_ != no_node && at_ < found_.size(); at_++) {
        if (looks == 0)
            return true;
        spend(looks, looks_to_compare);
        before_ += comes_before(place.model, place.tree, found_[at_], best_);
    }
    return false;
}

std::string FlameSearch::text() const {
    if (!pattern_)
        return {};
    if (!known_ || jump_ != Jump::none)
        return "searching";
    if (found_.empty())
        return "no match";
    if (number_ == 0)
        return fmt::format("{} fit, {}", found_.size(), format_percent(share_));
    return fmt::format("{} of {}, {}", number_, found_.size(), format_percent(share_));
}

} // namespace auger
