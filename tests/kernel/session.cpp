// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/session.h"

#include <algorithm>
#include <chrono>

namespace auger::test {

namespace {
constexpr auto step = std::chrono::milliseconds(50);

// Generous, and by the clock: while much happens, a poll comes back at once.
class Patience {
  public:
    bool left() const { return std::chrono::steady_clock::now() < end_; }

  private:
    std::chrono::steady_clock::time_point end_ =
        std::chrono::steady_clock::now() + std::chrono::minutes(2);
};
} // namespace

Session::Session(const LiveOptions& options) {
    sinks_.add(model_);
    sinks_.add(log);
    auto backend = make_live_backend(options, sinks_);
    if (!backend)
        throw std::runtime_error(backend.error().message());
    backend_ = std::move(*backend);
}

void Session::observe(const std::vector<pid_t>& pids) {
    TargetSpec target;
    target.kind = TargetSpec::Kind::pids;
    target.pids = pids;
    observe(target);
}

ProbeId Session::time(const std::string& text, Threshold slow, const CallConditions& conditions) {
    return must(try_time(text, slow, conditions));
}

Result<ProbeId> Session::try_time(const std::string& text, Threshold slow,
                                  const CallConditions& conditions) {
    ProbeId id{next_probe_++};
    auto added = backend_->add_probe({id, text, slow, conditions});
    if (!added)
        return added.error();
    report = *added;
    return id;
}

bool Session::pump_until(const std::function<bool()>& condition) {
    for (Patience patience; patience.left();) {
        bool more = must(backend_->poll(step, -1));
        must(backend_->refresh());
        if (condition())
            return true;
        if (!more)
            return false;
    }
    return false;
}

void Session::pump_to_end() {
    for (Patience patience; patience.left();) {
        if (!must(backend_->poll(step, -1)))
            return;
    }
    FAIL() << "the target did not end";
}

namespace {

Calls as_calls(const CallStatistics& statistics) {
    return {static_cast<uint64_t>(statistics.entries),
            static_cast<uint64_t>(statistics.returns),
            static_cast<uint64_t>(statistics.unwound),
            static_cast<uint64_t>(statistics.dropped),
            statistics.open,
            static_cast<uint64_t>(statistics.filtered)};
}

} // namespace

Calls Session::calls(ProbeId probe) {
    must(backend_->refresh());
    return as_calls(model_.probe_statistics(probe));
}

Calls Session::calls(SpecId spec) {
    must(backend_->refresh());
    return as_calls(model_.spec_statistics(spec));
}

uint64_t Session::lost(const std::string& cause) {
    must(backend_->refresh());
    return model_.ledger().lost.at(cause);
}

void Session::expect_samples_add_up() {
    must(backend_->refresh());
    const LedgerEvent& ledger = model_.ledger();
    EXPECT_EQ(ledger.ticks, ledger.samples + ledger.filtered + ledger.gated +
                                ledger.lost.at("samples: event ring full"));
    EXPECT_EQ(ledger.samples + ledger.wait_samples, model_.samples_received());
    EXPECT_EQ(ledger.lost.at("records: malformed"), 0u);
}

std::string Session::notice_with(const std::string& text) const {
    for (const Notice& notice : model_.notices())
        if (notice.text.find(text) != std::string::npos)
            return notice.text;
    return {};
}

std::vector<std::string> Session::stack_names(StackId stack) const {
    std::vector<std::string> names;
    const SymbolTables& symbols = model_.symbols();
    for (LocationId location : symbols.stack(stack)) {
        for (const FrameEntry& frame : symbols.frames(location))
            names.emplace_back(symbols.name(frame.function));
    }
    return names;
}

} // namespace auger::test
