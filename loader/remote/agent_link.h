// SPDX-License-Identifier: GPL-3.0-or-later
// AgentLink: the console's end of a conversation with one agent: bytes in and out, questions and
// their answers, and the stream, held back until somebody takes it. It knows no descriptors and
// reads no clock. What the agent says is hostile: a conversation that makes no sense ends with an
// Error. Changes when something else is said.
#pragma once

#include "loader/base/result.h"
#include "loader/recording/record_decoder.h"
#include "loader/remote/clock_offset.h"
#include "loader/remote/frames.h"
#include "loader/remote/messages.h"
#include "loader/stream/events.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace auger::remote {

class AgentLink {
  public:
    AgentLink(Hello own, OpenRequest open);

    // What is to be sent; the caller takes from its front what was.
    std::string& outgoing() { return outgoing_; }
    // What came, at this time of ours. Fails when the agent said why it ends, or makes no sense.
    Result<void> take(std::string_view bytes, uint64_t now_ns);
    // Unless one is still to be answered.
    void ping(uint64_t now_ns);

    // Whether it observes; before, nothing can be asked.
    bool open() const { return report_.has_value(); }
    // Of an agent that is there.
    const std::optional<Hello>& hello() const { return hello_; }
    const OpenReport& report() const { return *report_; }
    const HostState& state() const { return state_; }
    const ClockOffset& clock() const { return clock_; }
    // Whether it says before an edit that it would refuse it (CheckTarget, CheckProbe).
    bool checks() const { return agreement_ && agreement_->checks; }
    // Of a relay: how its hosts are.
    const std::vector<HostReport>& hosts() const { return relayed_.hosts; }
    // Likewise, before a block of the stream is delivered. False: it cannot be.
    void on_origins(std::function<bool(const Origins&)> take) { take_origins_ = std::move(take); }
    // What came in place of an agent's first words, or ahead of them.
    std::string greeting() const { return frames_.greeting(); }

    // The number by which it will be answered.
    uint64_t ask(const Request& request);
    // Some that are waited for.
    bool owes_answers() const { return asked_.size() > forgotten_.size(); }
    // Once; nothing while there is none.
    std::optional<Result<std::string>> take_answer(uint64_t number);
    // Nobody will.
    void forget(uint64_t number);

    // The agent's clock: all of before is here.
    uint64_t until_ns() const { return until_ns_; }
    size_t held_bytes() const { return held_bytes_ + frames_.bytes(); } // of the stream
    // Delivers what is next without a time; the time of what comes then (the agent's clock), or
    // nothing when there is no more.
    Result<std::optional<uint64_t>> next_time(EventSink& sink);
    // Delivers all up to then, in steps as long as `go_on` says so. True: there is no more up to
    // then.
    template <typename GoOn>
    Result<bool> deliver(EventSink& sink, uint64_t until_ns, const GoOn& go_on) {
        for (;;) {
            const auto step = deliver_one(sink, until_ns);
            if (!step)
                return step.error();
            if (!*step)
                return true;
            if (!go_on())
                return false;
        }
    }

  private:
    Result<void> take(const ReceivedFrame& frame, uint64_t now_ns);
    void hold(Block block);
    // True: a record was delivered.
    Result<bool> deliver_one(EventSink& sink, uint64_t until_ns);

    const Hello own_;
    const OpenRequest open_;
    std::string outgoing_;
    FrameReader frames_;
    std::optional<Hello> hello_;
    std::optional<Agreement> agreement_;
    bool asked_to_open_ = false;
    std::optional<OpenReport> report_;
    HostState state_;
    RelayedHosts relayed_;
    std::function<bool(const Origins&)> take_origins_;
    ClockOffset clock_;
    std::optional<uint64_t> ping_ns_; // when the one was sent that is to be answered

    uint64_t next_number_ = 1;
    std::set<uint64_t> asked_, forgotten_; // by number; the latter are among the former
    std::map<uint64_t, Result<std::string>> answers_;

    RecordDecoder decoder_;
    std::deque<Block> blocks_;
    bool in_block_ = false; // the first one is being decoded
    size_t held_bytes_ = 0;
    uint64_t until_ns_ = 0;
};

} // namespace auger::remote
