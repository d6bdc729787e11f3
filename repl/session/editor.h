// SPDX-License-Identifier: GPL-3.0-or-later
// Editor: the settings in force. A change is whole or not at all, and `undo` takes it back.
#pragma once

#include "repl/session/executor.h"
#include "repl/session/settings_edit.h"
#include "repl/session/undo_stack.h"
#include "views/model/model.h"

#include <optional>
#include <string>

namespace auger {

class Editor {
  public:
    // What is shown of the model is edited here (rules, stacks); what is collected is not.
    Editor(Backend& backend, Services& services, Model& model, SettingTable table)
        : model_(model), table_(table), executor_(backend, services) {}

    const Settings& settings() const { return settings_; }
    SettingTable table() const { return table_; }
    // An id that no probe has had yet.
    ProbeId fresh_id() const { return executor_.fresh_id(); }

    // Makes `to` the settings in force.
    Execution change(Settings to);
    void note_undo(std::string command, Settings before) {
        undo_.push({std::move(command), std::move(before)});
    }
    // The edit that undo() would take back; null when there is none.
    const UndoStack::Entry* last_edit() const { return undo_.empty() ? nullptr : &undo_.last(); }
    // last_edit() must not be null.
    Execution undo();

    // Puts rules that have changed in force. Names are made anew, which takes a while.
    void apply_rules();
    // A recording defines probes, split and `only` while it plays: they become settings.
    void adopt_recorded();
    // The recording that is being written has been ended.
    void forget_recording() { settings_.recording.clear(); }

  private:
    // Of the settings in force, and of those that undo() leads back to.
    template <typename Change>
    void change_always(const Change& change);
    void adopt(ProbeId id, const ProbeInfo& info);

    Model& model_;
    SettingTable table_;
    Executor executor_;
    Settings settings_;
    UndoStack undo_;
    Rules rules_;               // of the settings, compiled
    bool rules_applied_ = true; // to the model
    SplitInfo recorded_split_;  // last adopted
    OnlyInfo recorded_only_;    // likewise
};

} // namespace auger
