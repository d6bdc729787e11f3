// SPDX-License-Identifier: GPL-3.0-or-later
// SettingRow: one of the settings, and all that a difference in it means: what puts it in force,
// what is saved of it, and what it has to do with probes. Declared by the command that edits it.
// Probes are no row: they are added, edited and removed one by one (plan.h).
#pragma once

#include "loader/backend.h"
#include "repl/services/services.h"
#include "repl/session/settings.h"

#include <span>
#include <string>
#include <vector>

namespace auger {

struct SettingRow {
    // When it is put in force, and where it stands among what is saved.
    enum class Order {
        before_probes,
        with_probes, // names probes
        after_probes,
    };

    Order order = Order::after_probes;
    bool (*same)(const Settings&, const Settings&);
    // Whole or not at all. Null: nothing outside of the session depends on it.
    Result<void> (*apply)(const Settings& to, Backend&, Services&) = nullptr;
    // Adds the commands that lead to it; none where it is as it was at the beginning.
    void (*spell)(const Settings&, std::vector<std::string>& lines) = nullptr;
    // A probe is deleted: what needs it ends. Returns what to say of that; empty when nothing
    // ended.
    std::string (*end_without)(Settings&, ProbeId) = nullptr;
};

using SettingTable = std::span<const SettingRow* const>;

// SettingRow::same of one member of Settings, or of several.
template <auto... members>
bool same_members(const Settings& one, const Settings& other) {
    return ((one.*members == other.*members) && ...);
}

// The commands that lead to all of them: what `save FILE.aug` writes. In an order in which each is
// valid. Two things are left out: a recording that is being written, which to begin again would
// overwrite, and a window that ends at a moment of this session.
std::vector<std::string> spell_settings(const Settings& settings, SettingTable table);

} // namespace auger
