// SPDX-License-Identifier: GPL-3.0-or-later
// ConfinedQuestions: FileQuestions answered by confined processes, a new one for each question:
// what one file does to its process changes nothing of what is said of another.
#pragma once

#include "loader/process/confined_process.h"
#include "loader/symbols/debug_files.h"
#include "loader/symbols/name_messages.h"

#include <memory>

namespace auger {

class ConfinedQuestions final : public FileQuestions {
  public:
    explicit ConfinedQuestions(std::shared_ptr<ConfinedProcesses> readers)
        : readers_(std::move(readers)) {}

    std::optional<std::string> build_id_of(int fd) override;
    std::optional<uint32_t> checksum_of(int fd) override;

  private:
    Result<std::string> ask(name_messages::Kind kind, int fd);

    std::shared_ptr<ConfinedProcesses> readers_;
};

} // namespace auger
