// SPDX-License-Identifier: GPL-3.0-or-later
// GeneratedCode: the locations in code that programs generate. Their names may be written after
// they were asked for; and one piece of code may take the place of another at the same address. So
// the files that tell of it are looked at again from time to time. Used by one thread.
#pragma once

#include "loader/symbols/module_names.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace auger {

class GeneratedCode {
  public:
    // A location of the module that was looked up in `names`; an empty name: it has none yet.
    void add(const Location& at, const std::shared_ptr<ModuleNames>& names, std::string name);
    // Something was read of what is written of these.
    void changed(const std::shared_ptr<ModuleNames>& names);
    bool empty() const { return programs_.empty(); }

    struct News {
        std::vector<std::pair<Location, std::string>> named; // that had no name
        std::set<ModuleId> outdated; // addresses of it have another name now; told once
    };
    // Looks at what has been written for some of the programs; each has its turn.
    News look();

  private:
    struct Place {
        Location at;
        std::string name;
    };
    struct Program {
        std::shared_ptr<ModuleNames> names;
        ModuleId newest; // of its modules
        bool outdated = false;
        bool changed = false; // since the last look
        std::vector<Place> places;
    };
    void look(Program& program, News& news);

    std::map<const ModuleNames*, Program> programs_;
    const ModuleNames* last_ = nullptr; // whose turn it was
};

} // namespace auger
