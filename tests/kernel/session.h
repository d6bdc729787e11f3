// SPDX-License-Identifier: GPL-3.0-or-later
// Session: a live backend and the model that it fills, as a test drives them.
#pragma once

#include "loader/kernel/live_backend.h"
#include "loader/stream/tee.h"
#include "tests/kernel/stream_log.h"
#include "tests/support/kernel_test.h"
#include "views/model/model.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace auger::test {

// The value, or the error as an exception, which fails the test.
template <typename T>
T must(Result<T> result) {
    if (!result)
        throw std::runtime_error(result.error().message());
    if constexpr (!std::is_void_v<T>)
        return *std::move(result);
}

// Calls of all functions that a probe matched, as the kernel counted them.
struct Calls {
    uint64_t entries = 0, returns = 0, unwound = 0, dropped = 0;
    int64_t open = 0;
    uint64_t filtered = 0;
    bool add_up() const {
        return entries == returns + unwound + dropped + filtered + static_cast<uint64_t>(open);
    }
};

class Session {
  public:
    // Fails the test when there is no backend.
    explicit Session(const LiveOptions& options = {});

    Backend& backend() { return *backend_; }
    Model& model() { return model_; }

    void observe(pid_t pid) { observe(std::vector<pid_t>{pid}); }
    void observe(const std::vector<pid_t>& pids);
    void observe(const TargetSpec& target) { must(backend_->set_target(target)); }
    void filter(const FilterSpec& filter) { must(backend_->set_filter(filter)); }
    void sample(uint32_t rate_hz) { must(backend_->set_sampling({rate_hz, false})); }
    // Adds a probe and returns its id; fails the test when that fails or nothing matched.
    ProbeId time(const std::string& text, Threshold slow = {},
                 const CallConditions& conditions = {});
    // The same for a probe that may be refused, and then has the error.
    Result<ProbeId> try_time(const std::string& text, Threshold slow = {},
                             const CallConditions& conditions = {});
    ProbeReport report; // of the last probe that was added

    // Pumps events until the condition holds (checked after each delivery); false at a generous
    // limit.
    bool pump_until(const std::function<bool()>& condition);
    // Pumps until every process of the target is gone and all they left is delivered.
    void pump_to_end();
    Calls calls(ProbeId probe);
    Calls calls(SpecId spec);
    uint64_t lost(const std::string& cause);
    // Ticks of the sampler = samples + filtered + lost samples, and the model got all that was
    // sent. Only when nothing is sampled now: the counters are not read in one moment.
    void expect_samples_add_up();
    // The first notice that contains the text; empty: none was given.
    std::string notice_with(const std::string& text) const;
    bool noticed(const std::string& text) const { return !notice_with(text).empty(); }
    // The names on a stack, leaf first, inlined functions included.
    std::vector<std::string> stack_names(StackId stack) const;

    StreamLog log; // beside the model

  private:
    Model model_;
    Tee sinks_;
    std::unique_ptr<Backend> backend_;
    uint32_t next_probe_ = 1;
};

} // namespace auger::test
