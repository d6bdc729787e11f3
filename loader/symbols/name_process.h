// SPDX-License-Identifier: GPL-3.0-or-later
// Names are read in confined processes, of which each reads the files of one owner: what a file
// does to its process costs names of its owner's only. Used by one thread.
#pragma once

#include "loader/process/confined_process.h"
#include "loader/process/file_owner.h"
#include "loader/symbols/name_messages.h"
#include "loader/symbols/progress.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// What such a process does, and its name.
inline constexpr const char* name_service = "names";

// How long an answer may take before its process is given up, even on a machine with too much to
// do.
inline constexpr std::chrono::seconds name_patience{60};

class NameProcess {
  public:
    using Clock = std::chrono::steady_clock;

    NameProcess(ConfinedProcess process, const FileUser& user) : user_(user) {
        process_.emplace(std::move(process));
    }
    const FileUser& user() const { return user_; } // whose files it reads

    // A number for what is opened in it next.
    uint32_t next_number() { return ++numbers_; }
    uint32_t numbers() const { return numbers_; } // that were given
    // The answer to a request, or why there is none; then the process is no more.
    Result<std::string> ask(std::string_view request, std::span<const int> descriptors,
                            const WorkProgress& progress);
    // What has no answer.
    void tell(std::string_view request, std::span<const int> descriptors = {});
    void end() { process_.reset(); }
    // It answers nonsense, which is what is returned.
    Error give_up();
    bool usable() const { return process_.has_value(); }
    void trust(bool trusted) { trusted_ = trusted; } // it reads what only root can have written
    bool trusted() const { return trusted_; }
    bool given_up() const { return given_up_; } // it did not die
    Clock::time_point used() const { return used_; }

  private:
    std::optional<ConfinedProcess> process_;
    bool was_silent_ = false; // ended since it did not take what it was told
    const FileUser user_;
    uint32_t numbers_ = 0;
    bool trusted_ = false;
    bool given_up_ = false;
    Clock::time_point used_ = Clock::now();
};

class NameProcesses {
  public:
    // Null: there are none, because of `problem`.
    NameProcesses(std::shared_ptr<ConfinedProcesses> readers, std::string problem)
        : readers_(std::move(readers)), problem_(std::move(problem)) {}

    // The one that reads files of this owner; alone: a new one. Fails for who has had several given
    // up: all names wait for one that takes its time.
    Result<std::shared_ptr<NameProcess>> of(const FileOwner& owner, bool alone);

  private:
    Result<std::shared_ptr<NameProcess>> make(const FileUser& user);
    void make_room();
    void look_for_given_up();

    std::shared_ptr<ConfinedProcesses> readers_;
    std::string problem_;
    std::map<FileOwner, std::shared_ptr<NameProcess>> by_owner_;
    std::vector<std::shared_ptr<NameProcess>> all_; // that may be usable
    std::map<FileUser, int> given_up_;              // processes; root's own are not counted
};

// What is said of one thing that is opened in a process. When that process dies the thing is opened
// in another one: a few times, since it may have been killed.
class NameConversation {
  public:
    using Open = std::function<Result<void>(NameProcess& process, uint32_t number)>;

    // `processes` and `progress` outlive it.
    NameConversation(NameProcesses& processes, const FileOwner& owner, const WorkProgress& progress,
                     Open open)
        : processes_(processes), owner_(owner), progress_(progress), open_(std::move(open)) {}
    ~NameConversation();
    NameConversation(const NameConversation&) = delete;
    NameConversation& operator=(const NameConversation&) = delete;

    // What others do when they ask. Of no use but for what `open` does with the answers.
    Result<void> open();
    // The number of the request is filled in.
    Result<std::string> ask(name_messages::Request request, std::span<const int> descriptors);
    // As many as queries.
    Result<std::vector<AddressName>> find(std::span<const AddressQuery> queries);
    // Its process cannot be believed. What there is to say of it.
    Error give_up();
    // Whether the last answer is missing because every process that was asked has died. They may
    // have been killed.
    bool died() const { return died_; }
    // From now on in a process for what is of such a kind, or alone: what comes next is not only
    // its owner's.
    void change(FileOwner::Kind kind);
    // What was asked was of another file: that it took too long says nothing of this one.
    void forgive();

  private:
    using Attempt = std::function<Result<std::string>()>;
    void leave();
    Result<void> be_open();
    Result<std::string> try_again(const Attempt& attempt);

    NameProcesses& processes_;
    FileOwner owner_;
    const WorkProgress& progress_;
    const Open open_;
    bool alone_ = false;   // in a process with nothing else
    bool gave_up_ = false; // for good
    bool died_ = false;
    std::shared_ptr<NameProcess> process_;
    uint32_t number_ = 0;
};

} // namespace auger
