// SPDX-License-Identifier: GPL-3.0-or-later
// The files of a recording's modules, below a folder that holds those of the recorded machine: by
// the module's path, or by its build id where debug files are. A file is used only if its build id
// is the recorded one. Links cannot lead out of the folder.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/process/confined_process.h"
#include "loader/symbols/confined_questions.h"
#include "loader/symbols/module_table.h"

#include <memory>
#include <string>
#include <vector>

namespace auger {

class SysrootModules final : public ModuleSources {
  public:
    // `readers` make the processes that read build ids.
    static Result<SysrootModules> open(const std::string& folder,
                                       std::shared_ptr<ConfinedProcesses> readers);

    void define(ModuleId, const ModuleInfo&);
    const ModuleInfo& info(ModuleId id) const override { return modules_[id.index()]; }
    ModuleSource source(ModuleId) override;
    bool knows(ModuleId id) const { return id.index() < modules_.size(); }
    // Why modules that were asked for have no file: "libc.so.6: ...", each told once.
    std::vector<std::string> take_problems() { return std::exchange(problems_, {}); }

  private:
    SysrootModules(UniqueFd folder, UniqueFd own_root, std::shared_ptr<ConfinedProcesses> readers)
        : folder_(std::move(folder)), own_root_(std::move(own_root)),
          questions_(std::move(readers)) {}
    Result<UniqueFd> find(const ModuleInfo&);

    UniqueFd folder_, own_root_;
    ConfinedQuestions questions_;
    std::vector<ModuleInfo> modules_;
    std::vector<std::string> problems_;
};

} // namespace auger
