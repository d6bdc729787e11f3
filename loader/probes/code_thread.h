// SPDX-License-Identifier: GPL-3.0-or-later
// CodeThread: a conversation with a process that reads code, in a thread of its own: what is asked
// is begun, and answered later, one after the other. So a file that makes its reader hang holds up
// nobody but who wants to know of it.
#pragma once

#include "loader/base/fd.h"
#include "loader/probes/code_conversation.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace auger {

// Where answers of all threads come to be known.
class CodeAnswers {
  public:
    using Clock = std::chrono::steady_clock;

    // One that is to come, or has. Of who asks, but for its outcome until that is there.
    class Answer {
      public:
        // Null: it is still to come.
        const CodeOutcome* outcome() const { return there_ ? &*outcome_ : nullptr; }

      private:
        friend CodeAnswers;
        std::optional<CodeOutcome> outcome_;
        std::atomic<bool> there_{false};
        bool left_ = false; // nobody waits for it any more; of the mutex
    };

    CodeAnswers();
    // Until it is there, or until then. False: it is not.
    bool wait(const Answer& answer, Clock::time_point until);
    // Nobody waits for it: the descriptor tells when it has come.
    void leave(Answer& answer);
    void put(Answer& answer, CodeOutcome outcome);
    // Readable when answers have come that were left, until that is asked.
    int fd() const { return event_.get(); }
    bool take_event();

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    UniqueFd event_; // an eventfd
};

class CodeThread {
  public:
    using Answer = std::shared_ptr<CodeAnswers::Answer>;
    using Work = std::function<CodeOutcome(CodeConversation&)>;

    CodeThread(std::shared_ptr<ConfinedProcesses> readers, int own_root,
               std::shared_ptr<CodeAnswers> answers);
    ~CodeThread(); // as end(), and waits until it has
    CodeThread(const CodeThread&) = delete;
    CodeThread& operator=(const CodeThread&) = delete;

    // Begins, when what was begun before is done.
    Answer begin(Work work);
    // Debug information that was read, once all that was begun is answered.
    void forget_debug_information();
    // Ends soon, whatever the process does; what has no answer is answered as `ended`.
    void end();
    bool has_ended() const { return ended_; }

  private:
    void run();

    std::shared_ptr<CodeAnswers> answers_;
    std::atomic<bool> ending_{false}, ended_{false};
    CodeConversation conversation_; // the thread's
    std::mutex mutex_;              // of what follows
    std::condition_variable changed_;
    std::deque<std::pair<Work, Answer>> waiting_;
    bool forget_ = false;
    std::thread thread_; // last: it uses the others
};

} // namespace auger
