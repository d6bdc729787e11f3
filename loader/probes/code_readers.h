// SPDX-License-Identifier: GPL-3.0-or-later
// CodeReaders: what is asked of the files that may be probed. They are read in confined processes,
// of which each has the files of one owner, and those that only root can have written, for what
// they call there. What such a process says is believed of its owner's files only: it places no
// breakpoint in another's. Used by one thread.
#pragma once

#include "loader/probes/code_conversations.h"
#include "loader/probes/code_file.h"
#include "loader/probes/file_group.h"
#include "loader/probes/go_places.h"
#include "loader/probes/place_match.h"
#include "loader/probes/probe_pattern.h"
#include "loader/probes/switch_cache.h"
#include "loader/probes/unwind_proof.h"
#include "loader/process/confined_process.h"
#include "loader/process/message.h"
#include "loader/values/call_program.h"
#include "loader/values/thread_local_block.h"
#include "loader/values/thread_variable.h"

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// A function whose values are asked for.
struct CalledFunction {
    std::string name;                       // as in messages: "recv"
    std::shared_ptr<const CodeFile> file{}; // null: not known
    uint64_t address = 0;                   // as linked
    std::vector<pid_t> pids{};              // running processes of the target, for errno's place
    std::optional<std::string> usdt_arguments{}; // of a site of a USDT probe, as its note has them
    std::optional<std::string> tracepoint{};     // of one: the text of its format file
};

class CodeReaders : public UnwindReader {
  public:
    using File = std::shared_ptr<const CodeFile>;

    // `go_on` is asked now and then while there is no answer yet, see message.h; what was asked
    // when it says no fails. So does, with `not_yet()`, what takes longer than set_time() allows,
    // if that was called; it is worked on all the same, and who asks the same again has the answer
    // when it has come.
    explicit CodeReaders(std::shared_ptr<ConfinedProcesses> readers, GoOn go_on = {},
                         SwitchCache switches = SwitchCache::of_user());
    CodeReaders(const CodeReaders&) = delete;
    CodeReaders& operator=(const CodeReaders&) = delete;

    // How long is waited from now on; and until now.
    AnswerTime set_time(AnswerTime time);
    // Readable when answers have come that were not waited for, until that is asked.
    int answers_fd() const { return conversations_.answers_fd(); }
    bool take_answers() { return conversations_.take_answers(); }

    // See find_places(). The main programs come first and hide libraries, unless one is named.
    // Fails when nothing can be probed, but not while something is still being read.
    Result<ProbeMatches> find(const ProbePattern& pattern, std::span<const SearchedFile> files,
                              const MatchOptions& options = {});
    // See complete_function(); what cannot be read has no names.
    std::vector<std::string> complete(std::string_view text, std::span<const SearchedFile> files,
                                      size_t limit);
    // DT_NEEDED.
    Result<std::vector<std::string>> needed(const File& file);
    Result<GoPlaces> go_places(const File& file);
    Result<ThreadLocalBlock> thread_local_block(const File& file);
    // Nothing: the file exports none of that name.
    Result<std::optional<ThreadVariable>> thread_variable(const File& file, std::string_view name);
    Result<UnwindFacts> facts_of(const File& file) override;
    Result<std::string> switches_in(const File& file) override;
    // See compile_program(). Use a ProgramCompiler.
    Result<std::optional<CallProgram>> compile(const ProgramRequest& request,
                                               const CalledFunction& function,
                                               const Result<int32_t>& error_number);
    void forget_debug_information();
    // Whether something failed since it was last asked because `go_on` said no.
    bool take_interrupted();
    // Whether what was asked last failed because it is still being read.
    bool not_yet() const override { return conversations_.not_yet(); }

  private:
    struct Known {
        std::optional<UnwindFacts> facts;
        std::optional<GoPlaces> go;
    };
    Known& known(const File& file);
    Result<std::string> ask_of(const File& file, code_messages::Kind kind, std::string text = {});
    // What `understand` makes of the answer; it gives nothing for nonsense.
    template <typename Understand>
    auto told_of(const File& file, code_messages::Kind kind, const Understand& understand,
                 std::string text = {})
        -> Result<typename decltype(understand(std::string_view()))::value_type>;

    CodeConversations conversations_;
    SwitchCache switches_;
    std::map<std::weak_ptr<const CodeFile>, Known, std::owner_less<>> known_;
};

// While it lives, those who ask wait for so long.
class WaitingForCode {
  public:
    WaitingForCode(CodeReaders& readers, AnswerTime time)
        : readers_(readers), before_(readers.set_time(time)) {}
    ~WaitingForCode() { readers_.set_time(before_); }
    WaitingForCode(const WaitingForCode&) = delete;
    WaitingForCode& operator=(const WaitingForCode&) = delete;

  private:
    CodeReaders& readers_;
    const AnswerTime before_;
};

} // namespace auger
