// SPDX-License-Identifier: GPL-3.0-or-later
// Where the user is in a flame, as a path of functions: it means the same frame in whatever tree
// comes next. The zoom is a part of that path, so the cursor never leaves it.
#pragma once

#include "views/model/fold.h"
#include "views/screen/stack_anchor.h"

#include <optional>
#include <string>
#include <vector>

namespace auger {

class FlameCursor {
  public:
    // Finds the path in this tree, where its frames may have got other names since the last time.
    // Where it is missing, the frame nearest to it stands for it.
    void resolve(const FlameTree&, const SymbolTables&);
    uint32_t node() const { return node_; }
    uint32_t zoom_node() const { return zoom_node_; }
    // Whether the tree of the last resolve() has the frame itself.
    bool present() const { return present_; }

    std::optional<FunctionId> function() const;
    std::vector<FunctionId> callers() const; // of it, the nearest first
    // Of the frame itself, raw.
    std::string name(const Model&) const;
    // Of the frames that were zoomed into.
    std::vector<std::string> zoom_names(const Model&) const;
    FlamePath zoom_path() const { return part(zoom_depth()); }

    void move_to(const FlameTree&, const SymbolTables&, uint32_t node);
    void to_parent();
    void to_zoom() { depth_ = zoom_depth(); }
    // To the child from which to_parent() came, if the tree has it.
    bool to_known_child(const FlameTree&, const SymbolTables&);
    void zoom_in();
    bool zoom_out(); // false when nothing is zoomed into

  private:
    void locate(const FlameTree&);
    void rename(const SymbolTables&);
    FlamePath part(size_t depth) const;
    size_t zoom_depth() const { return zooms_.empty() ? 0 : zooms_.back(); }
    std::string name_of(const Model&, size_t depth) const;

    FlamePath path_;                    // to the cursor, and on to where it came up from
    std::optional<StackAnchor> anchor_; // of path_'s functions, once known
    size_t depth_ = 0;                  // of the cursor: 1 the label, 2.. functions
    std::vector<size_t> zooms_;         // depths, ascending, none below the cursor
    uint32_t node_ = 0;
    uint32_t zoom_node_ = 0;
    bool present_ = true;
};

} // namespace auger
