// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/settings.h"

#include <algorithm>

namespace auger {

const ProbeSetting* Settings::find(ProbeId id) const {
    for (const ProbeSetting& probe : probes) {
        if (probe.id == id)
            return &probe;
    }
    return nullptr;
}

const ProbeSetting* Settings::find(std::string_view text) const {
    for (const ProbeSetting& probe : probes) {
        if (probe.text == text)
            return &probe;
    }
    return nullptr;
}

void rename_probe(Settings& settings, const Rename& rename) {
    for (ProbeSetting& probe : settings.probes) {
        if (probe.id == rename.from)
            probe.id = rename.to;
    }
    if (settings.split.active && settings.split.probe == rename.from)
        settings.split.probe = rename.to;
    if (settings.explain.active && settings.explain.probe == rename.from)
        settings.explain.probe = rename.to;
    std::ranges::replace(settings.explain.by, rename.from, rename.to);
    rename_probe(settings.only.gate, rename);
    rename_probe(settings.sampling.raised, rename);
    for (Trigger& trigger : settings.triggers) {
        if (trigger.probe == rename.from)
            trigger.probe = rename.to;
    }
}

void rename_probe(Gate& gate, const Rename& rename) {
    for (GateTerm& term : gate.terms) {
        if (term.kind == GateTerm::Kind::call && term.probe == rename.from)
            term.probe = rename.to;
    }
}

bool needs_probe(const Gate& gate, ProbeId probe) {
    for (const GateTerm& term : gate.terms) {
        if (term.kind == GateTerm::Kind::call && term.probe == probe)
            return true;
    }
    return false;
}

bool end_trigger(Settings& settings, ProbeId probe) {
    return std::erase_if(settings.triggers,
                         [&](const Trigger& trigger) { return trigger.probe == probe; }) > 0;
}

} // namespace auger
