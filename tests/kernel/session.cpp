// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/session.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace auger::test {

namespace {
constexpr auto step = std::chrono::milliseconds(50);
constexpr int generous_steps = 1'200; // a minute, when nothing ever happens
} // namespace

Session::Session(const LiveOptions& options) {
    auto backend = make_live_backend(options, model_);
    if (!backend)
        throw std::runtime_error(backend.error().message());
    backend_ = std::move(*backend);
}

void Session::observe(pid_t pid) {
    TargetSpec target;
    target.kind = TargetSpec::Kind::pids;
    target.pids = {pid};
    auto set = backend_->set_target(target);
    if (!set)
        throw std::runtime_error(set.error().message());
}

ProbeId Session::time(const std::string& text, Threshold slow) {
    ProbeId id{next_probe_++};
    auto added = backend_->add_probe({id, text, slow});
    if (!added)
        throw std::runtime_error(added.error().message());
    report = *added;
    return id;
}

bool Session::pump_until(const std::function<bool()>& condition) {
    for (int i = 0; i < generous_steps; i++) {
        auto more = backend_->poll(step, -1);
        if (!more)
            throw std::runtime_error(more.error().message());
        (void)backend_->refresh();
        if (condition())
            return true;
        if (!*more)
            return condition();
    }
    return false;
}

void Session::pump_to_end() {
    bool ended = false;
    EXPECT_TRUE(pump_until([&] {
        auto more = backend_->poll(std::chrono::nanoseconds(0), -1);
        ended = more && !*more;
        return ended;
    })) << "the target did not end";
}

Calls Session::calls(ProbeId probe) {
    (void)backend_->refresh();
    CallStatistics statistics = model_.probe_statistics(probe);
    return {static_cast<uint64_t>(statistics.entries), static_cast<uint64_t>(statistics.returns),
            static_cast<uint64_t>(statistics.unwound), static_cast<uint64_t>(statistics.dropped),
            statistics.open};
}

uint64_t Session::lost(const std::string& cause) {
    (void)backend_->refresh();
    return model_.ledger().lost.at(cause);
}

} // namespace auger::test
