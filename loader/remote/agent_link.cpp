// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/agent_link.h"

#include <utility>

namespace auger::remote {

namespace {

Error senseless(std::string cause) {
    return {"read", "what the agent says", std::move(cause),
            "install the same version on both machines"};
}

size_t held(const Block& block) {
    size_t bytes =
        sizeof(Block) + block.records.size() + block.origins.of.size() * sizeof(MachineId);
    for (const Origins::Machine& machine : block.origins.machines)
        bytes += sizeof machine + machine.info.name.size();
    return bytes;
}

} // namespace

AgentLink::AgentLink(Hello own, OpenRequest open) : own_(std::move(own)), open_(open) {
    outgoing_ = preamble;
    put_frame(outgoing_, FrameKind::hello, encoded(own_));
}

void AgentLink::ping(uint64_t now_ns) {
    if (ping_ns_)
        return;
    ping_ns_ = now_ns;
    put_frame(outgoing_, FrameKind::ping, encoded(Ping{now_ns}));
}

Result<void> AgentLink::take(std::string_view bytes, uint64_t now_ns) {
    frames_.add(bytes);
    for (;;) {
        auto frame = frames_.next();
        if (!frame)
            return frame.error();
        if (!*frame)
            return {};
        if (auto taken = take(**frame, now_ns); !taken)
            return taken;
    }
}

Result<void> AgentLink::take(const ReceivedFrame& frame, uint64_t now_ns) {
    switch (static_cast<FrameKind>(frame.kind)) {
    case FrameKind::hello: {
        auto hello = decoded<Hello>(frame.body);
        if (!hello || hello_)
            return senseless("it introduces itself in a way that cannot be understood");
        auto agreement = agree(own_, *hello);
        if (!agreement)
            return agreement.error();
        agreement_ = *agreement;
        decoder_ = RecordDecoder(hello->format);
        hello_ = std::move(hello);
        ping(now_ns);
        return {};
    }
    case FrameKind::end: {
        auto error = decoded<Error>(frame.body);
        return error ? *error : senseless("it ends without saying why");
    }
    case FrameKind::pong: {
        const auto pong = decoded<Pong>(frame.body);
        // One that was never sent, or was sent in the future, would say anything of the clock.
        if (!pong || pong->console_ns != ping_ns_ || pong->console_ns > now_ns ||
            pong->agent_ns > recording::max_time_ns)
            return senseless("a ping is answered that was not sent");
        ping_ns_.reset();
        clock_.add(pong->console_ns, pong->agent_ns, now_ns);
        if (!clock_.fixed())
            ping(now_ns);
        else if (!std::exchange(asked_to_open_, true))
            put_frame(outgoing_, FrameKind::open, encoded(open_));
        return {};
    }
    case FrameKind::state: {
        auto state = decoded<HostState>(frame.body);
        if (!state)
            return senseless("its state cannot be understood");
        state_ = std::move(*state);
        return {};
    }
    case FrameKind::answer: {
        auto answer = decoded_answer(frame.body);
        if (!answer)
            return senseless("an answer cannot be understood");
        if (answer->number == 0) {
            auto report = decoded<OpenReport>(answer->body);
            if (!asked_to_open_ || report_ || answer->error || !report)
                return senseless("an answer cannot be understood");
            report_ = std::move(report);
            return {};
        }
        if (asked_.erase(answer->number) == 0)
            return senseless("something is answered that was not asked");
        if (forgotten_.erase(answer->number) > 0)
            return {};
        answers_.emplace(answer->number, answer->error ? Result<std::string>(*answer->error)
                                                       : Result(std::move(answer->body)));
        return {};
    }
    case FrameKind::block: {
        auto block = decoded_block(frame.body);
        if (!block || !asked_to_open_)
            return senseless("a piece of the stream cannot be understood");
        hold(std::move(*block));
        return {};
    }
    case FrameKind::relayed_block: {
        auto block = decoded_relayed_block(frame.body);
        if (!block || !asked_to_open_ || !agreement_->relays)
            return senseless("a piece of the stream cannot be understood");
        hold(std::move(*block));
        return {};
    }
    case FrameKind::hosts: {
        auto hosts = decoded<RelayedHosts>(frame.body);
        if (!hosts || !agreement_ || !agreement_->relays)
            return senseless("how its hosts are cannot be understood");
        relayed_ = std::move(*hosts);
        return {};
    }
    default:
        return {}; // a sign of life, or of a newer agent
    }
}

void AgentLink::hold(Block block) {
    until_ns_ = std::max(until_ns_, block.until_ns);
    held_bytes_ += held(block);
    blocks_.push_back(std::move(block));
}

uint64_t AgentLink::ask(const Request& request) {
    const uint64_t number = next_number_++;
    asked_.insert(number);
    put_frame(outgoing_, FrameKind::request, encoded_request(number, request));
    return number;
}

std::optional<Result<std::string>> AgentLink::take_answer(uint64_t number) {
    const auto found = answers_.find(number);
    if (found == answers_.end())
        return std::nullopt;
    auto answer = std::move(found->second);
    answers_.erase(found);
    return answer;
}

void AgentLink::forget(uint64_t number) {
    if (answers_.erase(number) == 0 && asked_.contains(number))
        forgotten_.insert(number);
}

Result<bool> AgentLink::deliver_one(EventSink& sink, uint64_t until_ns) {
    for (;;) {
        if (!in_block_) {
            if (blocks_.empty())
                return false;
            if (agreement_->relays && take_origins_ && !take_origins_(blocks_.front().origins))
                return senseless("it names hosts that cannot be");
            decoder_.start_block(blocks_.front().records);
            in_block_ = true;
        }
        switch (decoder_.step(sink, until_ns)) {
        case RecordDecoder::Step::delivered:
            return true;
        case RecordDecoder::Step::later:
            return false;
        case RecordDecoder::Step::block_end:
            held_bytes_ -= held(blocks_.front());
            blocks_.pop_front();
            in_block_ = false;
            break;
        case RecordDecoder::Step::end:
            return senseless("its stream has an end");
        case RecordDecoder::Step::damaged:
            return senseless(decoder_.problem());
        }
    }
}

// A record at time 0 is as one without a time.
Result<std::optional<uint64_t>> AgentLink::next_time(EventSink& sink) {
    for (;;) {
        const auto delivered = deliver_one(sink, 0);
        if (!delivered)
            return delivered.error();
        if (!*delivered)
            break;
    }
    return blocks_.empty() ? std::optional<uint64_t>() : std::optional(decoder_.next_ns());
}

} // namespace auger::remote
