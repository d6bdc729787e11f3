// SPDX-License-Identifier: GPL-3.0-or-later
// All panes, which of them are seen, and the part of the data that they agree on.
#pragma once

#include "views/screen/panes.h"

#include <optional>
#include <vector>

namespace auger {

class PaneSet {
  public:
    explicit PaneSet(const PaneOptions&);

    size_t size() const { return panes_.size(); }
    const PaneRow& row(size_t pane) const { return *panes_[pane].row; }
    Pane& pane(size_t pane) { return *panes_[pane].pane; }
    std::optional<size_t> find(Action) const;
    std::optional<size_t> find(std::string_view name) const;

    size_t front() const { return front_; }
    // The strip while it has the focus, else the one in front.
    size_t focus() const { return strip_focused_ ? *strip_ : front_; }
    Pane& focused() { return pane(focus()); }
    // The strip gets the focus; others come to the front with it.
    void bring(size_t pane);
    void bring_next(bool forward);
    std::optional<size_t> strip() const { return strip_; }
    bool strip_seen() const { return strip_ && (strip_shown_ || strip_focused_); }
    bool strip_focused() const { return strip_focused_; }
    void leave_strip() { strip_focused_ = false; }
    void hide_strip() { strip_shown_ = strip_focused_ = false; }

    const Scope& scope() const { return scope_; }
    // The window is the session's, see refresh().
    void choose(const ClassFilter&, GroupBy);
    // What was collected may have to be classed anew, also while frozen.
    void mark_stale();
    // While frozen, nothing that comes later is shown.
    void freeze(bool, const Model&);
    bool frozen() const { return frozen_ns_.has_value(); }

    // Panes that are seen take in what came; returns whether something is left to do.
    bool refresh(const Model&, const Window& in_force, const std::string& threads,
                 const TimeSlice&);
    // The classes of what the flame shows.
    ClassSums shown_sums() const;

  private:
    struct Shown {
        const PaneRow* row;
        std::unique_ptr<Pane> pane;
        bool stale = true; // has not taken in the scope, or what a command changed
    };
    void set_scope(Scope);

    std::vector<Shown> panes_; // the first is the flame
    size_t front_ = 0;
    std::optional<size_t> strip_;
    bool strip_shown_ = true;
    bool strip_focused_ = false;
    Scope scope_;
    std::optional<uint64_t> frozen_ns_;
};

} // namespace auger
