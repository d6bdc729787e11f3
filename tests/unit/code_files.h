// SPDX-License-Identifier: GPL-3.0-or-later
// Files for CodeReaders, and readers with processes of their own.
#pragma once

#include "loader/probes/code_readers.h"
#include "loader/process/safe_open.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace auger::test {

inline std::shared_ptr<const CodeFile> code_file(const std::string& path) {
    auto fd = open_regular(path);
    EXPECT_TRUE(fd) << path;
    return fd ? CodeFile::open(*std::move(fd), path, nullptr, nullptr) : nullptr;
}

inline std::shared_ptr<ConfinedProcesses> started(const ConfinedProgram& program) {
    auto processes = ConfinedProcesses::start(program);
    EXPECT_TRUE(processes);
    return processes ? *std::move(processes) : nullptr;
}

// Remembers nothing on disk.
struct Readers : CodeReaders {
    explicit Readers(const ConfinedProgram& program = reader_program(), GoOn go_on = {})
        : CodeReaders(started(program), std::move(go_on), SwitchCache("")) {}
};

} // namespace auger::test
