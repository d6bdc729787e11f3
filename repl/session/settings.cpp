// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/settings.h"

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
}

} // namespace auger
