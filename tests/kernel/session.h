// SPDX-License-Identifier: GPL-3.0-or-later
// Session: a live backend and the model that it fills, as a test drives them.
#pragma once

#include "loader/kernel/live_backend.h"
#include "views/model/model.h"

#include <functional>
#include <memory>
#include <string>

namespace auger::test {

// Calls of all functions that a probe matched, as the kernel counted them.
struct Calls {
    uint64_t entries = 0, returns = 0, unwound = 0, dropped = 0;
    int64_t open = 0;
    bool add_up() const {
        return entries == returns + unwound + dropped + static_cast<uint64_t>(open);
    }
};

class Session {
  public:
    // Fails the test when there is no backend.
    explicit Session(const LiveOptions& options = {});

    Backend& backend() { return *backend_; }
    Model& model() { return model_; }

    void observe(pid_t pid);
    // Adds a probe and returns its id; fails the test when that fails or nothing matched.
    ProbeId time(const std::string& text, Threshold slow = {});
    ProbeReport report; // of the last time()

    // Pumps events until the condition holds (checked after each delivery); false at a generous limit.
    bool pump_until(const std::function<bool()>& condition);
    // Pumps until every process of the target is gone and all they left is delivered.
    void pump_to_end();
    Calls calls(ProbeId probe);
    uint64_t lost(const std::string& cause);

  private:
    Model model_;
    std::unique_ptr<Backend> backend_;
    uint32_t next_probe_ = 1;
};

} // namespace auger::test
