// SPDX-License-Identifier: GPL-3.0-or-later
// SettingsEdit: the settings as a command makes them, before anything of it is in force. Pure: a
// complaint points at the word concerned.
#pragma once

#include "repl/language/keep_condition.h"
#include "repl/language/probe_arguments.h"
#include "repl/session/setting.h"

#include <optional>
#include <string>
#include <string_view>

namespace auger {

// What is known when a command is carried out.
struct EditContext {
    const Settings& settings; // in force
    SettingTable table;
    ProbeId fresh;     // for the first probe that has to be added; the next ones count on
    bool replaying;    // a recording needs no target
    uint64_t first_ns; // when observation began; 0: it has not
    uint64_t now_ns;
};

class SettingsEdit {
  public:
    explicit SettingsEdit(const EditContext& given) : context(given), settings(given.settings) {}

    const EditContext context;
    Settings settings;
    std::optional<ProbeId> probe{}; // that the command is about
    std::string note{};             // beside the obvious; may be empty

    void add_note(std::string_view text);

    // The probe that `ref` names. It becomes the one that the command is about.
    Parsed<ProbeSetting*> existing(const ProbeRef& ref);
    // Likewise; added where it is not there yet.
    Parsed<ProbeSetting*> find_or_add(const ProbeRef& ref);
    // Says so where nothing is attached for a probe that is to do something from now on.
    void note_if_off(ProbeId id);
    // The gate with its probes, which are timed from now on if they are not yet.
    Parsed<Gate> resolved(const KeepCondition& condition);
    // For intervals, all day: unless something is sampled already, CPU time is.
    void sample_all_day();
    // It is deleted, and what needs it ends.
    void delete_probe(ProbeId id);

  private:
    Parsed<ProbeId> id_of(const ProbeRef& ref);
    ProbeSetting* at(ProbeId id);
};

// The probe in force that `ref` names: by its number, its text, or, when it is one only, the text
// without the library, or part of a function's name as gdb takes it. Complains with the nearest
// one. For what asks about a probe, or ends it: what makes one goes by the text alone, since "read"
// may be a function besides ns::File::read(int).
Parsed<ProbeSetting> find_probe(const Settings& settings, const ProbeRef& ref);

} // namespace auger
