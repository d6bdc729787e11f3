// SPDX-License-Identifier: GPL-3.0-or-later
// DebugFetcher: debug files that are fetched by build id, once each, and the locations that wait
// for them. Fetching takes seconds to minutes, so it has a thread of its own; this is what that
// thread shares with those who want something. Its user holds a lock around each call.
#pragma once

#include "loader/stream/events.h"
#include "loader/symbols/debug_files.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class DebugFetcher {
  public:
    struct Answer {
        std::optional<DebugFile> file;
        std::string note; // why there is none
    };
    // Of a build id; null while it is being fetched. Asked for the first time, it is queued.
    const Answer* answer(const std::string& build_id) {
        const auto [at, added] = wanted_.try_emplace(build_id);
        if (added)
            queue_.push_back(build_id);
        return at->second.answer ? &*at->second.answer : nullptr;
    }
    // `location` waits for the answer.
    void wait(const std::string& build_id, const Location& location) {
        wanted_[build_id].waiting.push_back(location);
    }

    bool idle() const { return queue_.empty(); }
    std::string next() {
        const std::string build_id = queue_.front();
        queue_.pop_front();
        return build_id;
    }
    // Those who waited.
    std::vector<Location> done(const std::string& build_id, Answer answer) {
        Wanted& wanted = wanted_[build_id];
        wanted.answer = std::move(answer);
        return std::exchange(wanted.waiting, {});
    }

  private:
    struct Wanted {
        std::optional<Answer> answer;
        std::vector<Location> waiting;
    };
    std::map<std::string, Wanted> wanted_; // by build id
    std::deque<std::string> queue_;
};

} // namespace auger
