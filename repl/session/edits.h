// SPDX-License-Identifier: GPL-3.0-or-later
// What an editing command makes of the settings. Pure: a complaint points at the word concerned.
#pragma once

#include "repl/commands/command.h"
#include "repl/session/settings.h"

#include <optional>

namespace auger {

struct Edited {
    Settings settings;
    std::optional<ProbeId> probe; // that the command is about
    std::string note;             // beside the obvious; may be empty
};

struct EditContext {
    const Settings& settings;
    ProbeId fresh;     // for the first probe that has to be added; the next ones count on
    bool replaying;    // a recording needs no target
    uint64_t first_ns; // when observation began; 0: it has not
    uint64_t now_ns;
};

// Whether `edit` has something to do for the command.
bool is_edit(const Command& command);
Parsed<Edited> edit(const Command& command, const EditContext& context);

// The probe in force that `ref` names; complains with the nearest one.
Parsed<ProbeSetting> find_probe(const Settings& settings, const ProbeRef& ref);

} // namespace auger
