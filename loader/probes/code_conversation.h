// SPDX-License-Identifier: GPL-3.0-or-later
// CodeConversation: what is said with the process that reads the code of one FileGroup: made when
// something is asked, replaced when it dies, given up when it takes too long. Waits for answers, so
// it has a thread of its own (code_thread.h).
#pragma once

#include "loader/probes/code_messages.h"
#include "loader/probes/code_process.h"
#include "loader/process/confined_process.h"
#include "loader/process/message.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace auger {

struct DescribedFile {
    CodeProcess::File file;
    std::shared_ptr<const CodeDescription> description;
};

// Something that is asked of files. The request numbers them from 1, as they stand here; the
// process has numbers of its own.
struct CodeQuestion {
    std::vector<DescribedFile> files;
    code_messages::Request request;
};

// What came of it.
struct CodeOutcome {
    Result<std::string> answer = std::string();
    // Of the files of a request with modules, those that the answer is of, by their places in the
    // question, and in the order of its modules.
    std::vector<size_t> asked{};
    // Those that killed who read them, and how that was said.
    std::vector<std::pair<size_t, std::string>> left_out{};
    std::shared_ptr<const CodeDescription> description{}; // see describe()
    int given_up = 0; // processes that took too long, or answered nonsense
    // It was not tried to the end, because nobody wants to know any more.
    bool ended = false;
};

class CodeConversation {
  public:
    using File = CodeProcess::File;
    using Request = code_messages::Request;

    // `go_on`: see message.h; what is asked ends when it says no. `own_root`: O_PATH of "/".
    CodeConversation(std::shared_ptr<ConfinedProcesses> readers, int own_root, GoOn go_on)
        : readers_(std::move(readers)), own_root_(own_root), go_on_(std::move(go_on)) {}

    // What there is to know of a file of the group's before anything is asked of it: an answer that
    // is an error, or a description.
    CodeOutcome describe(const File& file);
    // One file that kills who reads it costs itself only: where several are searched it is found,
    // and left out.
    CodeOutcome ask(const CodeQuestion& question);
    // Debug information that was read for programs.
    void forget_debug_information();

  private:
    Result<CodeProcess*> process();
    static Result<void> open_all(const CodeQuestion& question, CodeProcess& process);
    // Of these files of the question.
    Result<std::string> ask_once(const CodeQuestion& question, const std::vector<size_t>& files,
                                 CodeOutcome& outcome);
    bool ask_each(const CodeQuestion& question, CodeOutcome& outcome);

    const std::shared_ptr<ConfinedProcesses> readers_;
    const int own_root_;
    const GoOn go_on_;
    std::optional<CodeProcess> process_;
    bool died_ = false; // what was asked last has no answer, because processes died of it
};

} // namespace auger
