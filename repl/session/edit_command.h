// SPDX-License-Identifier: GPL-3.0-or-later
// EditCommand: a command that changes settings. It says what it makes of them; carrying out the
// difference, undo, and what is said of probes that were added is the same for all.
#pragma once

#include "repl/session/command.h"
#include "repl/session/settings_edit.h"

#include <string>

namespace auger {

// What an edit did.
struct EditOutcome {
    const Settings& before;
    const Settings& now;
    const ProbeSetting* probe; // that it is about; may be null

    // Whether the edit has added the probe.
    bool added() const { return probe && !before.find(probe->id); }
};

class EditCommand : public Command {
  public:
    Parsed<Reply> run(Session& session, const CommandPlace& place) const final;

    virtual Parsed<void> edit(SettingsEdit& edit) const = 0;
    // What it did, in a line without newline; what comes from outside is escaped.
    virtual std::string told(const Session& session, const EditOutcome& outcome) const = 0;
    // Fields of the reply, and lines behind what is told.
    virtual void add_details(const Session&, JsonObject&, std::string& /*lines*/) const {}
    // The probe that it makes where it is not there yet: a failure is about it.
    virtual const ProbeRef* makes() const { return nullptr; }
    // What a newcomer would do next, with a probe that it has added; may be empty.
    virtual std::string next_step(const ProbeSetting&) const { return {}; }
    virtual bool can_be_undone(const Settings& /*before*/) const { return true; }
};

// "handle (probe 1)", escaped.
std::string probe_name(const ProbeSetting& probe);

} // namespace auger
