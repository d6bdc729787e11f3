// SPDX-License-Identifier: GPL-3.0-or-later
// TargetView: what the target is made of at one moment.
#pragma once

#include "loader/kernel/module_catalogue.h"

#include <sys/types.h>

#include <optional>
#include <set>
#include <vector>

namespace auger {

struct TargetView {
    std::vector<pid_t> pids; // running ones
    // Main programs first. Of a target by name, or where births are often, also what processes
    // mapped that have ended.
    std::vector<TargetModule> modules;
    bool everything = false; // -a: probes are never restricted to processes
    bool by_name = false;    // -n: the kernel takes in whoever comes under the name
    // False for a command that waits to be started: `modules` is what it will map, as far as known.
    bool started = true;
    bool births_often = false; // processes are born faster than they can be probed one by one

    // Whether a process outside of the target maps the file. Reading what all of them map is slow,
    // and done once.
    bool mapped_elsewhere(const TargetModule& module) const {
        if (!others_)
            others_ = ModuleCatalogue::mapped_by_others(pids);
        return others_->contains(module.mapped);
    }

    // The modules, in their order, for CodeReaders.
    std::vector<SearchedFile> files() const {
        std::vector<SearchedFile> result;
        for (const TargetModule& module : modules)
            result.push_back({module.file, module.main_program});
        return result;
    }

  private:
    mutable std::optional<std::set<FileIdentity>> others_;
};

} // namespace auger
