// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/name_process.h"

#include "loader/process/message.h"
#include "loader/symbols/name_messages.h"
#include "loader/symbols/unpack_memory.h"

#include <algorithm>
#include <iterator>
#include <thread>

namespace auger {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t most_processes = 64;
constexpr uint32_t most_files = 256;             // of one process, over its life
constexpr int most_given_up = 3;                 // of one user
constexpr std::chrono::seconds tell_patience{1}; // what is told is read at once

Error nonsense() {
    return {"read names", {}, "its reader sent an invalid answer", {}};
}

} // namespace

Error NameProcess::give_up() {
    given_up_ = true;
    end();
    return nonsense();
}

Result<std::string> NameProcess::ask(std::string_view request, std::span<const int> descriptors,
                                     const WorkProgress& progress) {
    const auto failed = [](const char* cause) { return Error{"read names", {}, cause, {}}; };
    const auto why_silent = [&] {
        return failed(given_up_ ? "it takes too long" : "its reader crashed or was killed");
    };
    if (!process_)
        return was_silent_ ? why_silent() : failed("its reader was ended");
    used_ = Clock::now();
    const auto end = used_ + name_patience;
    const auto go_on = [&] {
        given_up_ = progress.stopped() || Clock::now() >= end;
        return !given_up_;
    };
    if (send_message(process_->socket(), request, descriptors, go_on))
        if (auto answer = receive_message(process_->socket(), name_messages::answer_limit, go_on))
            return std::move(answer->bytes);
    this->end();
    return why_silent();
}

void NameProcess::tell(std::string_view request, std::span<const int> descriptors) {
    const auto end = Clock::now() + tell_patience;
    const auto go_on = [&] {
        given_up_ = Clock::now() >= end;
        return !given_up_;
    };
    if (!process_ || send_message(process_->socket(), request, descriptors, go_on))
        return;
    was_silent_ = true;
    this->end();
}

// Of the user who has most, the one that was asked for longest ago.
void NameProcesses::make_room() {
    std::map<FileUser, size_t> by_user;
    for (const auto& process : all_)
        by_user[process->user()]++;
    const FileUser largest = std::ranges::max_element(by_user, {}, [](const auto& entry) {
                                 return entry.second;
                             })->first;
    const auto oldest = std::ranges::min_element(all_, {}, [&](const auto& process) {
        return std::pair(process->user() != largest, process->used());
    });
    (*oldest)->end();
    all_.erase(oldest);
}

void NameProcesses::look_for_given_up() {
    std::erase_if(all_, [&](const auto& process) {
        if (!process->usable() && process->given_up() && !process->trusted())
            given_up_[process->user()]++;
        return !process->usable();
    });
}

Result<std::shared_ptr<NameProcess>> NameProcesses::make(const FileUser& user) {
    if (!readers_)
        return Error{"read names", {}, problem_, {}, Error::Kind::unsupported};
    auto made = readers_->make(name_service);
    if (!made)
        return made.error();
    auto process = std::make_shared<NameProcess>(*std::move(made), user);
    if (const UniqueFd memory = unpack_memory()) {
        const int descriptors[] = {memory.get()};
        process->tell(name_messages::request({name_messages::Kind::memory}), descriptors);
    }
    if (all_.size() >= most_processes)
        make_room();
    all_.push_back(process);
    return process;
}

Result<std::shared_ptr<NameProcess>> NameProcesses::of(const FileOwner& owner, bool alone) {
    look_for_given_up();
    const auto many = given_up_.find(owner.user);
    if (owner.kind != FileOwner::Kind::trusted && many != given_up_.end() &&
        many->second >= most_given_up)
        return Error{"read names",
                     {},
                     "other files of its owner took too long, or their reader answered nonsense",
                     {},
                     Error::Kind::unsupported};
    if (alone || !owner.shares())
        return make(owner.user);
    auto& known = by_owner_[owner];
    if (known && known->usable() && known->numbers() < most_files)
        return known;
    auto made = make(owner.user);
    if (made) {
        (*made)->trust(owner.kind == FileOwner::Kind::trusted);
        known = *made;
    }
    return made;
}

Result<void> NameConversation::be_open() {
    if (process_ && process_->usable())
        return {};
    if (gave_up_)
        return Error{
            "read names", {}, "it took too long, or its reader sent an invalid answer", {}};
    process_.reset();
    auto made = processes_.of(owner_, alone_);
    if (!made)
        return made.error();
    process_ = *std::move(made);
    number_ = process_->next_number();
    return open_(*process_, number_);
}

Result<std::string> NameConversation::try_again(const Attempt& attempt) {
    constexpr int most_attempts = 5, shared_attempts = 2;
    constexpr std::chrono::milliseconds pause{10};
    for (int number = 1;; number++) {
        auto answer = attempt();
        const bool given_up = process_ && process_->given_up();
        gave_up_ = gave_up_ || given_up;
        // Where none is to be had, waiting would hold up all other names.
        const bool refused = !answer && answer.error().kind == Error::Kind::unsupported;
        died_ = !answer && !gave_up_ && !refused && !(process_ && process_->usable());
        if (!died_ || number == most_attempts)
            return answer;
        // It may have been killed. Did it die of this, others' files shall not be with it.
        alone_ = alone_ || number >= shared_attempts;
        const auto end = Clock::now() + number * pause;
        while (!progress_.stopped() && Clock::now() < end)
            std::this_thread::sleep_for(pause);
    }
}

Result<void> NameConversation::open() {
    const auto opened = try_again([this]() -> Result<std::string> {
        const auto open = be_open();
        return open ? Result<std::string>(std::string()) : open.error();
    });
    return opened ? Result<void>() : opened.error();
}

Result<std::string> NameConversation::ask(name_messages::Request request,
                                          std::span<const int> descriptors) {
    return try_again([&]() -> Result<std::string> {
        if (const auto open = be_open(); !open)
            return open.error();
        request.number = number_;
        return process_->ask(name_messages::request(request), descriptors, progress_);
    });
}

Result<std::vector<AddressName>> NameConversation::find(std::span<const AddressQuery> queries) {
    std::vector<AddressName> all;
    while (all.size() < queries.size()) {
        const auto part = queries.subspan(
            all.size(), std::min(name_messages::queries_at_once, queries.size() - all.size()));
        name_messages::Request request{name_messages::Kind::find};
        request.queries.assign(part.begin(), part.end());
        const auto answer = ask(std::move(request), {});
        if (!answer)
            return answer.error();
        auto found = name_messages::names(*answer, part.size());
        if (!found)
            return give_up();
        std::ranges::move(*found, std::back_inserter(all));
    }
    return all;
}

Error NameConversation::give_up() {
    gave_up_ = true;
    return process_ ? process_->give_up() : nonsense();
}

void NameConversation::leave() {
    if (process_ && (alone_ || !owner_.shares()))
        process_->end();
    else if (process_)
        process_->tell(name_messages::request({name_messages::Kind::close, number_}));
    process_.reset();
}

void NameConversation::change(FileOwner::Kind kind) {
    if (alone_ || !owner_.shares() || owner_.kind == kind)
        return;
    leave();
    owner_ = owner_.with_kind(kind);
}

void NameConversation::forgive() {
    gave_up_ = false;
}

NameConversation::~NameConversation() {
    leave();
}

} // namespace auger
