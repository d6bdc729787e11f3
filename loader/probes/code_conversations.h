// SPDX-License-Identifier: GPL-3.0-or-later
// CodeConversations: what is said with the processes that read code: one a FileGroup, made when
// something is asked of its files, replaced when it dies, given up when it takes too long or
// answers nonsense. What becomes of the answers is others' business (code_readers.h).
#pragma once

#include "loader/probes/code_messages.h"
#include "loader/probes/code_process.h"
#include "loader/probes/file_group.h"
#include "loader/process/confined_process.h"
#include "loader/process/message.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace auger {

class CodeConversations {
  public:
    using File = std::shared_ptr<const CodeFile>;
    using Request = code_messages::Request;
    // An answer to what is asked of files, with their numbers filled in.
    using Fill = std::function<Request(const CodeProcess& process)>;

    // `go_on`: see CodeReaders.
    CodeConversations(std::shared_ptr<ConfinedProcesses> processes, GoOn go_on);

    // A new question: of these files by group, those with main programs first. `with_served`: with
    // what others may call. Files that cannot be read are in `unread()` then.
    std::vector<std::pair<FileGroup, ListedFiles>> list(std::span<const SearchedFile> files,
                                                        bool with_served);
    // Why they are left out, of those listed last.
    const std::map<const CodeFile*, std::string>& unread() const { return unread_; }

    // All fail with `interrupted()` when `go_on` said no.
    Result<std::string> ask(const FileGroup& group, std::span<const SearchedFile> files,
                            const Fill& fill);
    // Of all that is listed. One file that kills who reads it costs itself only: it is taken from
    // the list.
    Result<std::string> ask_all(const FileGroup& group, ListedFiles& listed, const Request& request,
                                std::string_view library);
    // A new question, of one file.
    Result<std::string> ask_of(const File& file, code_messages::Kind kind, std::string text = {});
    // Without an answer, to all.
    void tell(const Request& request);
    // A new question.
    void begin() { interrupted_ = false; }

    // Whose process answered what does not hold together. What there is to say of it.
    Error nonsense(const FileGroup& group);
    bool interrupted() const { return interrupted_; } // this time
    bool take_interrupted() { return std::exchange(was_interrupted_, false); }

  private:
    struct Entry {
        CodeProcess process;
        uint64_t used = 0; // the larger the later
    };

    Result<CodeProcess*> process_of(const FileGroup& group);
    void make_room();
    void give_up(const FileGroup& group); // it took too long, or answered nonsense
    void note_interrupt(const CodeProcess& process);
    void forget_what_is_gone();
    void leave_out(const File& file, const std::string& cause);
    // Has the file opened in the process of this group, and described by one of its owner's.
    Result<void> open_in(const FileGroup& group, CodeProcess& process, const File& file);
    Result<const CodeDescription*> describe(const File& file);
    bool is_one_too_many(const FileGroup& group);
    Result<std::string> ask_these(const FileGroup& group, const ListedFiles& these,
                                  const Request& request, std::string_view library);

    const std::shared_ptr<ConfinedProcesses> readers_;
    const GoOn go_on_;
    UniqueFd own_root_;
    std::map<FileGroup, Entry> processes_;
    uint64_t uses_ = 0;
    std::map<FileUser, int> given_up_; // processes; those of trusted files are not counted
    std::map<std::weak_ptr<const CodeFile>, CodeDescription, std::owner_less<>> described_;
    std::map<const CodeFile*, std::string> unread_;
    // Of the files that are being listed: groups of a user, and those of one file.
    std::map<uid_t, size_t> of_user_, unshared_;
    bool interrupted_ = false, was_interrupted_ = false; // this time; since somebody asked
    bool died_ = false; // what was asked last has no answer, because processes died of it
};

} // namespace auger
