// SPDX-License-Identifier: GPL-3.0-or-later
// Names: what makes names of modules, with processes of its own to read them in.
#pragma once

#include "loader/symbols/module_names.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace auger::test {

class Names {
  public:
    explicit Names(NameSources sources, const ConfinedProgram& program = reader_program())
        : maker(std::move(sources), NameProcesses(start(program), "none"), progress) {}

    WorkProgress progress;
    ModuleNamesMaker maker;

  private:
    static std::shared_ptr<ConfinedProcesses> start(const ConfinedProgram& program) {
        auto started = ConfinedProcesses::start(program);
        EXPECT_TRUE(started);
        return started ? *std::move(started) : nullptr;
    }
};

} // namespace auger::test
