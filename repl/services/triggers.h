// SPDX-License-Identifier: GPL-3.0-or-later
// Triggers: `on slow PROBE > 100ms record last 10s`. When a slow call has been traced, the last
// seconds of the event stream are written as a recording: what led to it, in full, without
// recording all day. How often, and how many stay, is limited.
#pragma once

#include "loader/backend.h"
#include "loader/process/forked_task.h"
#include "repl/services/service_settings.h"
#include "views/model/model.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class Triggers {
  public:
    // `utc_ns`: ns since 1970, for names of files.
    Triggers(Backend& backend, const Model& model, std::function<uint64_t()> utc_ns)
        : backend_(backend), model_(model), utc_ns_(std::move(utc_ns)) {}

    Result<void> set(const std::vector<Trigger>& triggers);
    bool active() const { return !states_.empty(); }

    void work();
    void add_wake_fds(std::vector<int>& fds) const;
    uint64_t due_ns() const; // in the backend's time
    void finish();           // writes what is due, and waits for it

    // Whether all recordings that were due were written.
    Result<void> outcome() const;

    // What happened since the last call, a line each.
    std::vector<std::string> take_news() { return std::exchange(news_, {}); }

  private:
    struct State {
        Trigger trigger;
        uint64_t next_ns = 0;     // not before
        uint64_t passed_over = 0; // slow calls since the last recording, which came too early
        uint64_t due_ns = 0;      // a recording is to be written; 0: none
        uint64_t duration_ns = 0; // of the call that it is of
        std::string path;
    };

    void look();
    void fire(State& state, const SlowCall& call);
    void start_writing(State& state);
    void collect();
    void fail(const std::string& problem);

    Backend& backend_;
    const Model& model_;
    std::function<uint64_t()> utc_ns_;
    std::map<ProbeId, State> states_;
    uint64_t kept_ns_ = 0; // what the backend keeps
    uint64_t seen_ = 0;    // slow calls
    std::optional<ForkedTask> task_;
    std::string task_text_; // what is said once it is done
    std::vector<std::string> news_;
    uint64_t written_ = 0, failed_ = 0;
    std::string first_problem_;
};

} // namespace auger
