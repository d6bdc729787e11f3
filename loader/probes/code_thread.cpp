// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_thread.h"

#include "loader/process/capabilities.h"

#include <linux/capability.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace auger {

CodeAnswers::CodeAnswers() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

bool CodeAnswers::wait(const Answer& answer, Clock::time_point until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, until, [&] { return answer.there_.load(); });
}

void CodeAnswers::leave(Answer& answer) {
    const std::lock_guard lock(mutex_);
    answer.left_ = true;
}

void CodeAnswers::put(Answer& answer, CodeOutcome outcome) {
    const std::lock_guard lock(mutex_);
    answer.outcome_ = std::move(outcome);
    answer.there_ = true;
    changed_.notify_all();
    const uint64_t one = 1;
    if (answer.left_ && write(event_.get(), &one, sizeof one) < 0)
        return; // it is readable already
}

bool CodeAnswers::take_event() {
    uint64_t count;
    return read(event_.get(), &count, sizeof count) == sizeof count;
}

CodeThread::CodeThread(std::shared_ptr<ConfinedProcesses> readers, int own_root,
                       std::shared_ptr<CodeAnswers> answers)
    : answers_(std::move(answers)),
      conversation_(std::move(readers), own_root, [this] { return !ending_; }),
      thread_([this] { run(); }) {}

CodeThread::~CodeThread() {
    end();
    thread_.join();
}

CodeThread::Answer CodeThread::begin(Work work) {
    auto answer = std::make_shared<CodeAnswers::Answer>();
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(std::move(work), answer);
    changed_.notify_all();
    return answer;
}

void CodeThread::forget_debug_information() {
    const std::lock_guard lock(mutex_);
    forget_ = true;
    changed_.notify_all();
}

void CodeThread::end() {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
}

void CodeThread::run() {
    // To find debug files, and to end processes.
    begin_thread("code", capability(CAP_DAC_READ_SEARCH) | capability(CAP_KILL));
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return ending_ || forget_ || !waiting_.empty(); });
        if (!waiting_.empty()) {
            auto [work, answer] = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            CodeOutcome outcome;
            outcome.ended = true;
            if (!ending_)
                outcome = work(conversation_);
            work = nullptr; // with the files that it has
            answers_->put(*answer, std::move(outcome));
            lock.lock();
        } else if (ending_) {
            break;
        } else if (std::exchange(forget_, false)) {
            lock.unlock();
            conversation_.forget_debug_information();
            lock.lock();
        }
    }
    ended_ = true;
}

} // namespace auger
