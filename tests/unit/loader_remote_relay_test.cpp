// SPDX-License-Identifier: GPL-3.0-or-later
// A relay's stream keeps of which host each thing is; and what becomes of a relay that lies.
#include "loader/recording/machine_stream.h"
#include "loader/remote/agent_link.h"
#include "loader/remote/agent_stream.h"
#include "loader/stream/quiet_sink.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

namespace auger::remote {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Of which machine things are, by its name.
class Whose final : public QuietSink {
  public:
    std::map<uint32_t, std::string> threads; // by tid
    std::map<std::string, std::string> functions;
    std::vector<std::string> samples, names;
    std::vector<CallEndEvent> ends;
    LedgerEvent ledger;

    void on_machine(MachineId id, const MachineInfo& info) override {
        machines_.insert_or_assign(id, info.name);
        names.push_back(info.name);
    }
    void on_thread(ThreadId id, const ThreadInfo& info) override {
        threads[info.tid] = machines_.at(info.machine);
        of_threads_[id] = machines_.at(info.machine);
    }
    void on_spec(SpecId, const SpecInfo& info) override {
        functions[info.function] = machines_.at(info.machine);
    }
    void on_ledger(const LedgerEvent& event) override { ledger = event; }
    void on_call_end(const CallEndEvent& end) override { ends.push_back(end); }
    void on_sample(const SampleEvent& event) override {
        samples.push_back(of_threads_.at(event.thread));
    }

  private:
    std::map<MachineId, std::string> machines_;
    std::map<ThreadId, std::string> of_threads_;
};

// A relay as the console sees it.
class RelayConversation : public testing::Test {
  protected:
    RelayConversation() {
        common.announce(ProbeId{1}, ProbeInfo{ProbeId{1}, "f", {}, {}});
        stream.deliver_to(whose);
        stream.tell_machine();
        link.on_origins([this](const Origins& origins) { return stream.take_origins(origins); });
    }
    void open(const std::vector<std::string>& features = {std::string(feature_relay)}) {
        std::string bytes(preamble);
        put_frame(bytes, FrameKind::hello, encoded(own_hello("relay", features)));
        for (size_t i = 0; i < ClockOffset::pings_to_fix; i++)
            put_frame(bytes, FrameKind::pong, encoded(Pong{1000, 1000}));
        put_frame(bytes, FrameKind::answer, encoded_answer(0, encoded(OpenReport{})));
        ASSERT_TRUE(link.take(bytes, 1000));
        ASSERT_TRUE(link.open());
    }
    Result<void> say(FrameKind kind, const std::string& body) {
        std::string bytes;
        put_frame(bytes, kind, body);
        return link.take(bytes, 1000);
    }
    bool say_block(const Block& block) {
        return say(FrameKind::relayed_block, encoded_relayed_block(block, true)) &&
               link.deliver(stream, UINT64_MAX - 1, [] { return true; });
    }
    // Of `count` hosts, each of which has a thread, a function and a sample.
    void tell_hosts(AgentStream& relay, uint32_t count) {
        relay.on_module(ModuleId{0}, {ModuleKind::file, "/bin/x", ""});
        relay.on_location(LocationId{0}, {ModuleId{0}, 1, false});
        relay.on_stack(StackId{0}, std::array{LocationId{0}});
        for (uint32_t i = 0; i < count; i++) {
            // The second is there first.
            const uint32_t host = i ^ 1;
            relay.on_machine(MachineId{host}, {fmt::format("web{}", host), 5});
            relay.on_thread(ThreadId{i}, {100, 100 + host, "x", "", MachineId{host}});
            relay.on_spec(SpecId{i}, {ProbeId{1}, fmt::format("f{}", host), "/bin/x", 0,
                                      ObservedExit(), MachineId{host}});
        }
        relay.on_probe({ProbeId{1}, "f", {SpecId{0}, SpecId{1}}, {}, false});
        for (uint32_t i = 0; i < count; i++)
            relay.on_sample({10 + i, 1, ThreadId{i}, StackId{0}, SampleKind::cpu, 0, {}});
        relay.on_time(100);
    }

    CommonStream common{1, CommonStream::Probes::by_number};
    MachineStream stream{common, 0, MachineId{0}, {"relay", 7}, 0};
    Whose whose;
    AgentLink link{own_hello("console", {std::string(feature_hosts)}), OpenRequest{}};
};

TEST_F(RelayConversation, EachThingIsOfItsHost) {
    open();
    AgentStream relay([] { return false; }, true);
    tell_hosts(relay, 4);
    ASSERT_TRUE(say_block(*relay.take_block()));
    EXPECT_THAT(whose.threads, ElementsAre(Pair(100, "relay/web0"), Pair(101, "relay/web1"),
                                           Pair(102, "relay/web2"), Pair(103, "relay/web3")));
    EXPECT_THAT(whose.functions, ElementsAre(Pair("f0", "relay/web0"), Pair("f1", "relay/web1"),
                                             Pair("f2", "relay/web2"), Pair("f3", "relay/web3")));
    EXPECT_THAT(whose.samples, ElementsAre("relay/web1", "relay/web0", "relay/web3", "relay/web2"));
    // One that comes back is the same; its thread of the same number is another host's no longer.
    relay.on_machine(MachineId{1}, {"web1", 5});
    relay.on_thread(ThreadId{4}, {100, 100, "x", "", MachineId{1}});
    relay.on_sample({200, 1, ThreadId{4}, StackId{0}, SampleKind::cpu, 0, {}});
    ASSERT_TRUE(say_block(*relay.take_block()));
    EXPECT_EQ(whose.samples.back(), "relay/web1");
    OpenCall call;
    call.probe = ProbeId{1};
    call.spec = SpecId{2}; // f3
    EXPECT_EQ(stream.common(call)->thread.machine, *common.relayed_machine(0, "web3"));
}

// What its hosts dropped, and what it dropped itself.
TEST_F(RelayConversation, LossesAddUp) {
    open();
    bool crowded = false;
    AgentStream relay([&] { return crowded; }, true);
    tell_hosts(relay, 2);
    crowded = true;
    // One that stands for three of theirs.
    relay.on_sample({20, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {}, 3});
    crowded = false;
    LedgerEvent ledger;
    ledger.time_ns = 50;
    ledger.lost[lost_on_the_way] = 5;
    relay.on_ledger(ledger);
    ASSERT_TRUE(say_block(*relay.take_block()));
    EXPECT_EQ(whose.ledger.lost.at(lost_on_the_way), 8u);
    EXPECT_EQ(relay.lost_samples(), 3u);
}

// Of its hosts one may have watched the marks for longer than another, whose calls before that are
// neither taken nor not.
TEST_F(RelayConversation, WhatAHostDidNotWatchIsNotKnown) {
    open();
    AgentStream relay([] { return false; }, true);
    tell_hosts(relay, 2);
    SplitInfo split{true, ProbeId{1}, {}, false, Branch::on_condition("arg1 > 4")};
    split.branch_since_ns = 10;
    common.ask(split);
    relay.on_split(split);
    for (uint32_t i = 0; i < 2; i++) {
        CallEndEvent end{90, 50, ThreadId{i}, {40, i, SpecId{i}}, 1};
        end.marks_known = i == 0;
        relay.on_call_end(end);
    }
    ASSERT_TRUE(say_block(*relay.take_block()));
    ASSERT_EQ(whose.ends.size(), 2u);
    EXPECT_TRUE(whose.ends[0].marks_known);
    EXPECT_FALSE(whose.ends[1].marks_known);
}

// A second of many hosts is told at once, and is more than a block may have.
TEST_F(RelayConversation, WhatIsMuchComesInSeveralBlocks) {
    open();
    AgentStream relay([] { return false; }, true);
    tell_hosts(relay, 2);
    const CallKey calls[2] = {{1, 0, SpecId{0}}, {2, 1, SpecId{1}}};
    constexpr size_t samples = 700'000;
    for (size_t i = 0; i < samples; i++)
        relay.on_sample({100 + i, 1000, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, calls});
    relay.on_machine(MachineId{7}, {"web7", 5});
    relay.on_thread(ThreadId{2}, {100, 107, "x", "", MachineId{7}});
    relay.on_time(100 + samples);
    size_t blocks = 0;
    uint64_t until_ns = 0;
    while (const auto block = relay.take_block()) {
        EXPECT_LT(block->records.size(), most_block / 2);
        EXPECT_TRUE(until_ns <= 100) << "what comes later is of before";
        until_ns = block->until_ns;
        ASSERT_TRUE(say_block(*block));
        blocks++;
    }
    EXPECT_GT(blocks, 2u);
    EXPECT_EQ(until_ns, 100 + samples);
    EXPECT_EQ(whose.samples.size(), samples + 2);
    EXPECT_EQ(whose.threads.at(107), "relay/web7");
}

TEST_F(RelayConversation, CostsAreOfProbesThatWereAskedFor) {
    using Kind = Overhead::Cause::Kind;
    stream.on_probe({ProbeId{1}, "f", {}, {}, false});
    LedgerEvent ledger;
    ledger.overhead.end_ns = 1;
    ledger.overhead.causes = {{Kind::probe, ProbeId{1}, 5, 50},
                              {Kind::probe, ProbeId{7}, 6, 60},
                              {Kind::lines, ProbeId{9}, 1, 10}};
    stream.on_ledger(ledger);
    const std::vector<Overhead::Cause> told{{Kind::probe, ProbeId{1}, 5, 50},
                                            {Kind::lines, {}, 1, 10}};
    EXPECT_EQ(whose.ledger.overhead.causes, told);
}

TEST_F(RelayConversation, AnAgentOfOneMachineSaysNothingOfHosts) {
    AgentStream one([] { return false; });
    tell_hosts(one, 2);
    const Block block = *one.take_block();
    EXPECT_TRUE(block.origins.machines.empty());
    EXPECT_TRUE(block.origins.of.empty());
    // Nor is it believed to.
    open({});
    EXPECT_FALSE(say_block(block));
}

TEST_F(RelayConversation, HowHostsAreIsBounded) {
    open();
    RelayedHosts hosts;
    for (size_t i = 0; i < most_relayed_hosts; i++) {
        hosts.hosts.push_back({});
        hosts.hosts.back().name = fmt::format("web{}", i);
        hosts.hosts.back().state = HostReport::State::live;
        hosts.hosts.back().lost_samples = i;
    }
    ASSERT_TRUE(say(FrameKind::hosts, encoded(hosts)));
    ASSERT_EQ(link.hosts().size(), most_relayed_hosts);
    EXPECT_EQ(link.hosts()[7].name, "web7");
    EXPECT_EQ(link.hosts()[7].lost_samples, 7u);
    EXPECT_EQ(link.hosts()[7].state, HostReport::State::live);
    hosts.hosts.push_back({});
    EXPECT_FALSE(say(FrameKind::hosts, encoded(hosts)));
    RelayedHosts long_name;
    long_name.hosts.resize(1);
    long_name.hosts[0].name = std::string(most_host_name, 'x');
    EXPECT_TRUE(say(FrameKind::hosts, encoded(long_name)));
    long_name.hosts[0].name += 'x';
    EXPECT_FALSE(say(FrameKind::hosts, encoded(long_name)));
}

TEST_F(RelayConversation, WhoLiesOfHostsIsNotBelieved) {
    open();
    const auto origins = [](std::vector<Origins::Machine> machines,
                            std::vector<MachineId> of = {}) {
        return Origins{std::move(machines), std::move(of)};
    };
    // Another's name stands behind its own; without one, or a very long one, it is none.
    EXPECT_TRUE(stream.take_origins(origins({{MachineId{9}, {"web1", 0}}}, {MachineId{9}})));
    EXPECT_EQ(whose.names.back(), "relay/web1");
    EXPECT_FALSE(stream.take_origins(origins({{MachineId{1}, {"", 0}}})));
    EXPECT_FALSE(stream.take_origins(origins({{MachineId{1}, {std::string(300, 'x'), 0}}})));
    // Of a host that was never named.
    EXPECT_FALSE(stream.take_origins(origins({}, {MachineId{9}, MachineId{8}})));
    // Too many, by name or by number.
    MachineStream many(common, 0, MachineId{0}, {"relay", 7}, 0);
    many.deliver_to(whose);
    size_t taken = 0;
    for (uint32_t i = 0; i < 5000; i++)
        taken += many.take_origins(origins({{MachineId{i}, {fmt::format("x{}", i), 0}}}));
    EXPECT_EQ(taken, most_relayed_hosts - 1); // there was web1
    MachineStream same(common, 0, MachineId{0}, {"relay", 7}, 0);
    same.deliver_to(whose);
    taken = 0;
    for (uint32_t i = 0; i < 5000; i++)
        taken += same.take_origins(origins({{MachineId{i}, {"x1", 0}}}));
    EXPECT_EQ(taken, most_relayed_hosts);
}

TEST_F(RelayConversation, WhatIsSaidToBeNobodysIsItsOwn) {
    open();
    AgentStream relay([] { return false; }, true);
    tell_hosts(relay, 2);
    Block block = *relay.take_block();
    block.origins.of.pop_back(); // of the second host's function
    EXPECT_TRUE(say_block(block));
    EXPECT_EQ(whose.threads.at(100), "relay/web0");
    EXPECT_EQ(whose.functions.at("f1"), "relay/web1");
    EXPECT_EQ(whose.functions.at("f0"), "relay");
}

TEST(RelayedBlocks, ComeThroughOrAreNone) {
    const Block block{
        77, std::string(2000, 'x'), {{{MachineId{3}, {"web3", 9}}}, {MachineId{3}, MachineId{0}}}};
    for (const bool zlib : {false, true}) {
        const std::string body = encoded_relayed_block(block, zlib);
        const auto again = decoded_relayed_block(body);
        ASSERT_TRUE(again);
        EXPECT_EQ(again->until_ns, 77u);
        EXPECT_EQ(again->records, block.records);
        ASSERT_EQ(again->origins.machines.size(), 1u);
        EXPECT_EQ(again->origins.machines[0].info.name, "web3");
        EXPECT_THAT(again->origins.of, ElementsAre(MachineId{3}, MachineId{0}));
        for (size_t size = 0; size < 20; size++)
            (void)decoded_relayed_block(std::string_view(body).substr(0, size));
        EXPECT_FALSE(decoded_relayed_block(std::string_view(body).substr(0, 4)));
    }
    // A size is a claim.
    EXPECT_FALSE(decoded_relayed_block(std::string("\xff\xff\xff\x7f", 4)));
}

TEST(Relays, AreNotRelayedAgain) {
    const Hello console = own_hello("auger console", {std::string(feature_hosts)}),
                relay = own_hello("auger relay", {std::string(feature_relay)}),
                // As a relay asks its hosts, and as one did that knew of no relays.
        other = own_hello("auger other"), host = own_hello("auger host");
    ASSERT_TRUE(agree(console, relay));
    EXPECT_TRUE(agree(console, relay)->relays);
    EXPECT_TRUE(agree(console, relay)->zlib);
    EXPECT_FALSE(agree(console, host)->relays);
    EXPECT_FALSE(agree(other, host)->relays);
    const auto refused = agree(other, relay);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("it is a relay"));
}

} // namespace
} // namespace auger::remote
