// SPDX-License-Identifier: GPL-3.0-or-later
// CodeProcess: a confined process that reads code, and which files it has been handed.
#pragma once

#include "loader/base/result.h"
#include "loader/probes/code_file.h"
#include "loader/probes/code_messages.h"
#include "loader/process/confined_process.h"
#include "loader/process/message.h"
#include "loader/symbols/debug_files.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace auger {

// What such a process does, and its name.
inline constexpr const char* code_service = "code";

// How long an answer may take before its process is given up, even on a machine with too much to
// do.
inline constexpr std::chrono::seconds code_patience{60};

// What was found out about a file when it was first opened; by a process of its owner's.
struct CodeDescription {
    std::string problem;                         // why it cannot be read; empty: it can
    std::optional<DebugFile> debug_file;         // of one without DWARF
    std::shared_ptr<const UniqueFd> alternative; // what dwz has put elsewhere
    std::string no_alternative;                  // why that is not there; empty: it need not be
};

class CodeProcess final : private FileQuestions {
  public:
    using File = std::shared_ptr<const CodeFile>;

    // `go_on`, see CodeReaders, outlives it.
    CodeProcess(ConfinedProcess process, const GoOn& go_on) : go_on_(go_on) {
        process_.emplace(std::move(process));
    }

    // The answer, or why there is none; then the process is no more.
    Result<std::string> ask(const code_messages::Request& request, int file = -1);
    void tell(const code_messages::Request& request, int file = -1);
    bool usable() const { return process_.has_value(); }
    bool given_up() const { return given_up_; } // it did not die: it took too long, or was wrong
    bool interrupted() const { return interrupted_; } // nobody waited for its answer
    // It answers nonsense, which is what is returned.
    Error give_up();

    // The file's number in requests; 0: it is not open.
    uint32_t number_of(const File& file) const;
    // Fails when the process is no more.
    Result<void> open(const File& file, const CodeDescription& description);
    // The same of a file that nothing is known of yet. `own_root`: O_PATH of "/".
    Result<CodeDescription> describe(const File& file, int own_root);
    // Files that nobody has any more are closed there, too.
    void close_forgotten();

  private:
    Error why_gone() const;
    std::optional<std::string> build_id_of(int fd) override;
    std::optional<uint32_t> checksum_of(int fd) override;
    void find_alternative(const File& file, uint32_t number, int own_root,
                          CodeDescription& description);

    const GoOn& go_on_;
    std::optional<ConfinedProcess> process_;
    std::map<std::weak_ptr<const CodeFile>, uint32_t, std::owner_less<>> numbers_;
    uint32_t last_number_ = 0;
    bool given_up_ = false, interrupted_ = false;
};

} // namespace auger
