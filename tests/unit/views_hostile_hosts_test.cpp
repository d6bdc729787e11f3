// SPDX-License-Identifier: GPL-3.0-or-later
// An agent that means harm, or is slow, changes nothing of what is known of other hosts.
#include "loader/recording/record_encoder.h"
#include "tests/support/wait.h"
#include "tests/unit/observed_hosts.h"
#include "views/model/account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace auger {
namespace {

using HostileHosts = ObservedHosts;

// An agent that says what it likes; it answers pings and `open` as one that is honest.
remote::ConnectAgent hostile(test::ForkedPeer& peer,
                             std::function<void(std::string& out, uint64_t now)> when_open,
                             bool answers = true) {
    return [&peer, when_open, answers] {
        return peer.start([=](int socket) {
            using namespace remote;
            std::string out(preamble);
            put_frame(out, FrameKind::hello, encoded(own_hello("auger")));
            FrameReader frames;
            std::array<char, 1 << 16> buffer;
            bool open = false;
            for (;;) {
                pollfd ready{socket, static_cast<short>(out.empty() ? POLLIN : POLLIN | POLLOUT),
                             0};
                ::poll(&ready, 1, 20);
                if (ready.revents & POLLOUT)
                    out.erase(0, static_cast<size_t>(std::max<ssize_t>(
                                     ::send(socket, out.data(), out.size(), MSG_DONTWAIT), 0)));
                if (ready.revents & (POLLIN | POLLHUP)) {
                    const ssize_t got = ::read(socket, buffer.data(), buffer.size());
                    if (got <= 0)
                        return;
                    frames.add({buffer.data(), static_cast<size_t>(got)});
                }
                const uint64_t now = read_clock(CLOCK_MONOTONIC);
                for (auto next = frames.next(); next && *next; next = frames.next()) {
                    if ((*next)->kind == uint64_t(FrameKind::ping))
                        put_frame(out, FrameKind::pong,
                                  encoded(Pong{decoded<Ping>((*next)->body)->console_ns, now}));
                    if ((*next)->kind == uint64_t(FrameKind::open)) {
                        put_frame(out, FrameKind::answer, encoded_answer(0, encoded(OpenReport{})));
                        open = true;
                    }
                    if ((*next)->kind == uint64_t(FrameKind::request) && answers)
                        put_frame(out, FrameKind::answer,
                                  encoded_answer(decoded_request((*next)->body)->number,
                                                 std::string(64, '\0')));
                }
                if (open && out.size() < (1 << 20)) {
                    put_frame(out, FrameKind::working, "");
                    when_open(out, now);
                }
            }
        });
    };
}

std::string sample_at(uint64_t time_ns) {
    static bool defined = false; // in the forked process
    RecordEncoder records;
    if (!std::exchange(defined, true)) {
        records.on_module(ModuleId{0}, {ModuleKind::file, "/bin/x", ""});
        records.on_location(LocationId{0}, {ModuleId{0}, 1, false});
        records.on_stack(StackId{0}, std::array{LocationId{0}});
        records.on_thread(ThreadId{0}, {1, 1, "x"});
        records.on_spec(SpecId{0}, {ProbeId{9}, "f", "/bin/x", 0, ObservedExit()});
        records.on_probe({ProbeId{9}, "never asked for", {SpecId{0}}, {}, false});
    }
    StatsEvent stats;
    stats.time_ns = time_ns;
    stats.entries = stats.returns = 1000;
    records.on_stats(stats);
    records.on_sample({time_ns, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {}});
    return records.bytes();
}

// Beside one that is honest: of that each call counts, it is never held up, and what the other says
// ends where it makes no sense.
TEST_F(HostileHosts, WhoMeansHarmChangesNothingOfTheOthers) {
    using remote::Block;
    using remote::FrameKind;
    struct Attack {
        const char* name;
        std::function<void(std::string&, uint64_t)> say;
        HostReport::State becomes = HostReport::State::live;
        bool answers = true;
    };
    constexpr auto lost = HostReport::State::lost, live = HostReport::State::live;
    const auto block = [](std::string& out, uint64_t until, std::string records) {
        put_frame(out, FrameKind::block, encoded_block(Block{until, std::move(records)}, true));
    };
    const Attack attacks[] = {
        {"lives in the future",
         [=](std::string& out, uint64_t now) {
             block(out, now + 3'600 * second_ns, sample_at(now + 3'600 * second_ns));
         }},
        {"lives in the past",
         [=](std::string& out, uint64_t now) { block(out, now - 1, sample_at(5)); }},
        {"never goes on", [=](std::string& out, uint64_t) { block(out, 1, {}); }},
        {"talks of what there is not",
         [=](std::string& out, uint64_t now) {
             RecordEncoder records;
             records.on_sample({now, 1, ThreadId{7}, StackId{7}, SampleKind::cpu, 0, {}});
             block(out, now, records.bytes());
         },
         lost},
        {"says anything",
         [=](std::string& out, uint64_t now) {
             put_frame(out, FrameKind(now % 12), std::string(now % 100, char(now)));
         },
         lost},
        {"only claims to work", [](std::string&, uint64_t) {}, live, false},
        {"floods",
         [=](std::string& out, uint64_t now) {
             for (int i = 0; i < 200; i++)
                 block(out, now + second_ns, std::string(1000, '\1'));
         },
         lost},
    };
    for (const Attack& attack : attacks) {
        SCOPED_TRACE(attack.name);
        backend.reset();
        hosts.clear();
        others.clear();
        model = Model();
        test::ForkedPeer peer;
        const uint64_t begin_ns = read_clock(CLOCK_MONOTONIC);
        others.push_back({"evil", hostile(peer, attack.say, attack.answers)});
        observe({{}});
        const bool answers = attack.answers;
        if (answers)
            ASSERT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
        else // it would be waited for as long as it claims to work
            ASSERT_TRUE(backend->refresh());
        if (answers) {
            poll_until([&] { return counted("web1") > 100; });
            end_of_calls();
            EXPECT_EQ(counted("web1"), static_cast<double>(truth().at("web1")));
        }
        EXPECT_EQ(state_of(1), attack.becomes) << backend->hosts()[1].cause;
        EXPECT_EQ(state_of(0), HostReport::State::live);
        EXPECT_FALSE(model.find_probe(ProbeId{9}));
        EXPECT_EQ(model.find_probe(ProbeId{1}) != nullptr, answers);
        // Not even of time.
        EXPECT_LE(model.now_ns(), backend->now_ns());
        for (size_t i = 0; i < model.samples().size(); i++) {
            EXPECT_GE(model.samples().times()[i], begin_ns);
            EXPECT_LE(model.samples().times()[i], backend->now_ns());
        }
        backend.reset();
    }
}

// The split, `only` and what probes are is what all of them were asked for, whatever one says.
TEST_F(HostileHosts, WhatIsInForceIsWhatTheConsoleAskedFor) {
    test::ForkedPeer peer;
    others.push_back(
        {"evil", hostile(peer, [](std::string& out, uint64_t now) {
             static bool said = false; // in the forked process
             if (std::exchange(said, true))
                 return;
             RecordEncoder records;
             ProbeInfo probe{ProbeId{1}, "another", {}, {Threshold::Kind::fixed, 2, 0}};
             probe.conditions.only_if = "arg1 > 0";
             records.on_probe(probe);
             SplitInfo split{true, ProbeId{1}, {Threshold::Kind::fixed, 1, 0}};
             records.on_split(split);
             for (int i = 0; i < 40; i++) { // more than there are bits for
                 split.branch = {Branch::Kind::line, "foreign.cc:" + std::to_string(i)};
                 records.on_split(split);
             }
             OnlyInfo only;
             only.text = "nothing of others";
             only.gate = {{{GateTerm::Kind::comm, {}, {}, 0, "evil"}}, {{{0}, {}}}};
             only.lines = {"foreign.cc:50"};
             only.line_clauses = {{{0}, {}}};
             only.marks = {{3, "at foreign.cc:50"}};
             records.on_only(only);
             put_frame(out, remote::FrameKind::block,
                       remote::encoded_block({now, records.bytes()}, true));
         })});
    observe({{}});
    const Threshold slow{Threshold::Kind::fixed, test::slow_duration, 0};
    ASSERT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
    ASSERT_TRUE(backend->set_split({true, ProbeId{1}, slow}));
    poll_until([&] { return backend->hosts()[1].received_bytes > 1'000; });
    ASSERT_TRUE(backend->refresh());
    EXPECT_EQ(state_of(1), HostReport::State::live) << backend->hosts()[1].cause;
    const auto expect_asked = [&](const Branch& branch) {
        EXPECT_TRUE(model.split().active);
        EXPECT_EQ(model.split().threshold, slow);
        EXPECT_EQ(model.split().branch, branch);
        EXPECT_EQ(model.only().text, "");
        const ProbeInfo* probe = model.find_probe(ProbeId{1});
        ASSERT_TRUE(probe);
        EXPECT_EQ(probe->text, "handle");
        EXPECT_EQ(probe->slow, Threshold{});
        EXPECT_EQ(probe->conditions, CallConditions{});
    };
    expect_asked({});
    // Nor are all bits of marks taken.
    const Branch branch{Branch::Kind::line, "main.cc:60"};
    ASSERT_TRUE(backend->set_split({true, ProbeId{1}, slow, false, branch}));
    ASSERT_TRUE(backend->refresh());
    expect_asked(branch);
    end_of_calls();
}

// Nor is time what it says where nobody else says what it is.
TEST_F(HostileHosts, WhoIsAloneMakesNoTime) {
    test::ForkedPeer peer;
    others.push_back(
        {"evil", hostile(peer, [](std::string& out, uint64_t now) {
             put_frame(out, remote::FrameKind::block,
                       remote::encoded_block(
                           {now + 3'600 * second_ns, sample_at(now + 3'600 * second_ns)}, true));
         })});
    observe({});
    poll_until([&] { return backend->hosts()[0].received_bytes > 100'000; });
    ASSERT_TRUE(backend->refresh());
    EXPECT_LE(model.now_ns(), backend->now_ns());
    EXPECT_EQ(model.samples_received(), 0u);
}

// More than is read: samples are dropped and counted, calls and their durations are not.
TEST_F(HostileHosts, WhoSaysTooMuchLosesSamplesOnly) {
    test::Mishap busy;
    busy.calls_a_round = 1000;
    observe({{}, busy}, 4 << 20);
    ASSERT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
    const auto dropped = [&] { return backend->hosts()[1].lost_samples; };
    poll_until([&] { return dropped() > 10'000; });
    EXPECT_LT(backend->hosts()[1].bytes_per_second, uint64_t{9} << 20);
    end_of_calls();
    // What was in the pipe when it ended is read by and by.
    ASSERT_EQ(state_of(1), HostReport::State::live) << backend->hosts()[1].cause;
    poll_until([&] { return counted("web2") == static_cast<double>(truth().at("web2")); });
    ASSERT_TRUE(backend->refresh());
    EXPECT_EQ(counted("web1"), static_cast<double>(truth().at("web1")));
    EXPECT_EQ(backend->hosts()[0].lost_samples, 0u);
    const double calls = counted("web1") + counted("web2");
    EXPECT_EQ(static_cast<double>(model.samples_received() + dropped()), calls);
    EXPECT_EQ(model.ledger().lost.at(remote::lost_on_the_way), dropped());
    EXPECT_TRUE(make_account(model).calls_add_up);
}

// While an answer is waited for nothing is delivered, and it comes behind all that was told before.
TEST_F(HostileHosts, WhoHasMuchToSayAnswersAllTheSame) {
    test::Mishap busy;
    busy.calls_a_round = 1000;
    observe({{}, busy});
    ASSERT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
    // More than is held of a stream when nothing is asked; an answer has bytes, too.
    const auto received = [&] { return backend->hosts()[1].received_bytes; };
    while (received() < (24 << 20)) {
        const uint64_t before = received();
        ASSERT_TRUE(test::wait_until([&] {
            settings();
            return received() > before;
        }));
    }
    end_of_calls();
    EXPECT_EQ(state_of(1), HostReport::State::live) << backend->hosts()[1].cause;
    for (const char* host : {"web1", "web2"})
        EXPECT_EQ(counted(host), static_cast<double>(truth().at(host)));
}

} // namespace
} // namespace auger
