// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/pane_set.h"

#include "views/model/classifier.h"

namespace auger {

PaneSet::PaneSet(const PaneOptions& options) {
    for (const PaneRow& row : pane_table()) {
        if (row.action == Action::strip)
            strip_ = panes_.size();
        panes_.push_back({&row, row.make(options)});
    }
}

std::optional<size_t> PaneSet::find(Action action) const {
    for (size_t i = 0; i < panes_.size(); i++) {
        if (panes_[i].row->action == action)
            return i;
    }
    return std::nullopt;
}

std::optional<size_t> PaneSet::find(std::string_view name) const {
    for (size_t i = 0; i < panes_.size(); i++) {
        if (panes_[i].row->name == name)
            return i;
    }
    return std::nullopt;
}

void PaneSet::bring(size_t pane) {
    if (pane == strip_) {
        strip_shown_ = strip_focused_ = true;
        return;
    }
    strip_focused_ = false;
    front_ = pane;
    panes_[pane].stale = true;
}

void PaneSet::bring_next(bool forward) {
    bring((focus() + (forward ? 1 : panes_.size() - 1)) % panes_.size());
}

void PaneSet::set_scope(Scope scope) {
    if (scope == scope_)
        return;
    scope_ = std::move(scope);
    mark_stale();
}

void PaneSet::choose(const ClassFilter& filter, GroupBy by) {
    set_scope({scope_.window, filter, by, scope_.threads});
}

void PaneSet::mark_stale() {
    for (Shown& shown : panes_)
        shown.stale = true;
}

void PaneSet::freeze(bool frozen, const Model& model) {
    frozen_ns_ = frozen ? std::optional(model.now_ns()) : std::nullopt;
    mark_stale();
}

bool PaneSet::refresh(const Model& model, const Window& in_force, const std::string& threads,
                      const TimeSlice& slice) {
    Scope scope = scope_;
    scope.window = in_force;
    scope.threads = threads;
    if (frozen_ns_ && scope.window.end_ns == 0)
        scope.window.end_ns = *frozen_ns_;
    // The class that was shown may have gone with the split.
    if (!scope.filter.all() && lacking_part(model, scope.filter))
        scope.filter = {};
    set_scope(std::move(scope));

    bool more = false;
    for (size_t i = 0; i < panes_.size(); i++) {
        Shown& shown = panes_[i];
        // The flame goes on behind the others: the status line tells of its classes.
        const bool needed = i == front_ || i == 0 || (i == strip_ && strip_seen());
        // The strip shows that data goes on being collected, and where the frozen part lies.
        if (!needed || (frozen_ns_ && !shown.stale && i != strip_))
            continue;
        shown.stale = shown.pane->refresh(model, scope_, slice);
        more |= shown.stale;
    }
    return more;
}

ClassSums PaneSet::shown_sums() const {
    return panes_.front().pane->shown_sums().value_or(ClassSums{});
}

} // namespace auger
