// SPDX-License-Identifier: GPL-3.0-or-later
// CodeConversations: those with all processes that read code: one a FileGroup, in a thread of its
// own. Whoever asks waits for a time (AnswerTime) and then goes on; the same question, asked again,
// has the answer once it has come. What becomes of the answers is others' business
// (code_readers.h). Used by one thread.
#pragma once

#include "loader/probes/answer_time.h"
#include "loader/probes/code_messages.h"
#include "loader/probes/code_thread.h"
#include "loader/probes/file_group.h"
#include "loader/process/confined_process.h"
#include "loader/process/message.h"

#include <compare>
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

    // `go_on`: see CodeReaders.
    CodeConversations(std::shared_ptr<ConfinedProcesses> processes, GoOn go_on);
    ~CodeConversations();

    // How long is waited from now on.
    void set_time(AnswerTime time) { time_ = time; }
    AnswerTime time() const { return time_; }

    // A new question: of these files by group, those with main programs first. `with_served`: with
    // what others may call. Files that cannot be read are in `unread()` then.
    std::vector<std::pair<FileGroup, ListedFiles>> list(std::span<const SearchedFile> files,
                                                        bool with_served);
    // Those listed last that are left out.
    struct Unread {
        std::string cause;
        bool not_yet = false; // it is still being read
    };
    const std::map<const CodeFile*, Unread>& unread() const { return unread_; }
    // The listed files that are searched are, too.
    void leave_out(const ListedFiles& listed, const Unread& why);

    // All fail with `interrupted()` when `go_on` said no, and with `not_yet()` when it takes longer
    // than is waited for. What is listed: see CodeConversation::ask(); files that were left out are
    // taken from the list.
    Result<std::string> ask(const FileGroup& group, ListedFiles& listed, const Request& request,
                            std::string_view library);
    // Of one file, or of none. A question by itself.
    Result<std::string> ask_of(const FileGroup& group, const File& file, Request request);
    // The same file as it was asked about before, if it was, so that what is known of it is found.
    File known_as(const File& file) const;
    // Debug information that was read for programs.
    void forget_debug_information();

    // Whose process answered what does not hold together. What there is to say of it.
    Error nonsense(const FileGroup& group);
    bool interrupted() const { return interrupted_; } // this time
    bool not_yet() const { return not_yet_; }         // of what was asked last
    bool take_interrupted() { return std::exchange(was_interrupted_, false); }

    // Readable when there are answers that were not waited for, until that is asked.
    int answers_fd() const { return answers_->fd(); }
    bool take_answers() { return answers_->take_event(); }

  private:
    using Clock = AnswerTime::Clock;
    struct Entry {
        std::unique_ptr<CodeThread> thread;
        uint64_t used = 0;         // the larger the later
        CodeThread::Answer left{}; // the last one that somebody went on without
        bool hangs() const { return left && !left->outcome(); }
    };
    // What was asked, and of what: a request says it in bytes.
    struct Key {
        FileGroup group;
        std::vector<const CodeFile*> files;
        std::string request;
        auto operator<=>(const Key&) const = default;
    };
    struct Asked {
        CodeThread::Answer answer;
        std::vector<std::weak_ptr<const CodeFile>> files; // without which nobody asks again
        bool left = false;                                // somebody comes back for it
        bool taken_in = false;
        Clock::time_point there_since{};
    };

    void begin(); // a question
    void take_in(const FileGroup& group, Asked& asked);
    void forget_answers();
    void forget_what_is_gone();
    void end(std::map<FileGroup, Entry>::iterator entry);
    void make_room();
    Result<Entry*> entry_of(const FileGroup& group);
    Result<const CodeOutcome*> outcome(const FileGroup& group, const std::vector<File>& files,
                                       std::string request, const CodeThread::Work& work);
    bool wait(Entry& entry, Asked& asked, bool trusted);
    Error left(); // what is asked is still being read
    Result<std::shared_ptr<const CodeDescription>> describe(const File& file);
    Result<DescribedFile> described(const File& file);
    bool is_one_too_many(const FileGroup& group);

    const std::shared_ptr<ConfinedProcesses> readers_;
    const GoOn go_on_;
    UniqueFd own_root_;
    AnswerTime time_ = AnswerTime::endless();
    const std::shared_ptr<CodeAnswers> answers_ = std::make_shared<CodeAnswers>();
    std::map<FileGroup, Entry> entries_;
    std::vector<std::unique_ptr<CodeThread>> ending_;
    uint64_t uses_ = 0;
    std::map<Key, Asked> asked_;
    std::map<FileUser, int> given_up_; // processes; those of trusted files are not counted
    std::map<std::weak_ptr<const CodeFile>, std::shared_ptr<const CodeDescription>,
             std::owner_less<>>
        described_;
    std::map<const CodeFile*, Unread> unread_;
    // Of the files that are being listed: groups of a user, and those of one file.
    std::map<uid_t, size_t> of_user_, unshared_;
    bool interrupted_ = false, was_interrupted_ = false; // this time; since somebody asked
    bool not_yet_ = false;
};

} // namespace auger
