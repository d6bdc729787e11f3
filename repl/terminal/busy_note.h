// SPDX-License-Identifier: GPL-3.0-or-later
// BusyNote: writes to the terminal that something takes long, if it does. From a thread of its own,
// because whoever made it is busy.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace auger {

class BusyNote {
  public:
    // `bytes` go to the descriptor as they are, unless the note is gone again soon.
    BusyNote(int fd, std::string bytes);
    ~BusyNote();
    BusyNote(const BusyNote&) = delete;
    BusyNote& operator=(const BusyNote&) = delete;

  private:
    void run(int fd, const std::string& bytes);

    std::mutex mutex_;
    std::condition_variable over_;
    bool done_ = false;
    std::thread thread_;
};

} // namespace auger
