// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/busy_note.h"

#include "loader/base/signals_blocked.h"
#include "loader/process/capabilities.h"

#include <unistd.h>

#include <chrono>

namespace auger {
namespace {

constexpr std::chrono::milliseconds soon{150};

} // namespace

BusyNote::BusyNote(int fd, std::string bytes) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this, fd, bytes = std::move(bytes)] {
        begin_thread("note", 0);
        run(fd, bytes);
    });
}

BusyNote::~BusyNote() {
    {
        const std::lock_guard lock(mutex_);
        done_ = true;
    }
    over_.notify_one();
    thread_.join();
}

void BusyNote::run(int fd, const std::string& bytes) {
    std::unique_lock lock(mutex_);
    if (!over_.wait_for(lock, soon, [this] { return done_; }))
        (void)!::write(fd, bytes.data(), bytes.size());
}

} // namespace auger
