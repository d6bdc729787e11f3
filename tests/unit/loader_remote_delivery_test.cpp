// SPDX-License-Identifier: GPL-3.0-or-later
// Events of many hosts reach the console in the order of time, whatever the order in which they
// come. The agents are bytes that lie in sockets, and time passes when the test says so.
#include "loader/remote/hosts_backend.h"
#include "loader/stream/quiet_sink.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>

#include <array>
#include <memory>
#include <random>
#include <stdexcept>

namespace auger::remote {
namespace {

constexpr uint64_t start_ns = 1'000'000'000'000, later_ns = start_ns + 1'000'000'000;

// Samples as they come: when, and of which machine.
class Arrivals final : public QuietSink {
  public:
    using Arrival = std::pair<uint64_t, MachineId>;
    std::vector<Arrival> samples;
    std::vector<uint64_t> times;

    void on_thread(ThreadId id, const ThreadInfo& info) override {
        machines_.insert_or_assign(id, info.machine);
    }
    void on_sample(const SampleEvent& event) override {
        samples.emplace_back(event.time_ns, machines_.at(event.thread));
    }
    void on_time(uint64_t time_ns) override { times.push_back(time_ns); }

  private:
    std::map<ThreadId, MachineId> machines_;
};

// The console asks nothing that these do not answer already.
struct SaidAlready {
    std::string bytes{preamble};
    uint64_t ahead_ns = 0; // its clock

    explicit SaidAlready(uint64_t ahead) : ahead_ns(ahead) {
        put_frame(bytes, FrameKind::hello, encoded(own_hello("auger test")));
        for (size_t ping = 0; ping < ClockOffset::pings_to_fix; ping++)
            put_frame(bytes, FrameKind::pong, encoded(Pong{start_ns, start_ns + ahead}));
        put_frame(bytes, FrameKind::answer, encoded_answer(0, encoded(OpenReport{})));
    }
    void block(uint64_t until_ns, const std::vector<uint64_t>& samples, bool defines) {
        RecordEncoder records;
        if (defines) {
            records.on_module(ModuleId{0}, {ModuleKind::file, "/bin/x", ""});
            records.on_location(LocationId{0}, {ModuleId{0}, 1, false});
            records.on_stack(StackId{0}, std::array{LocationId{0}});
            records.on_thread(ThreadId{0}, {1, 1, "x"});
        }
        for (const uint64_t time : samples)
            records.on_sample(
                {time + ahead_ns, 1, ThreadId{0}, StackId{0}, SampleKind::cpu, 0, {}});
        put_frame(bytes, FrameKind::block,
                  encoded_block({until_ns + ahead_ns, records.bytes()}, false));
    }
};

class DeliveryOfHosts : public testing::Test {
  protected:
    DeliveryOfHosts() { options_.most_starting = 100; }

    void add(const SaidAlready& said) {
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        auto console = std::make_shared<UniqueFd>(ends[0]);
        agents_.emplace_back(ends[1]);
        ASSERT_EQ(::send(ends[1], said.bytes.data(), said.bytes.size(), MSG_DONTWAIT),
                  static_cast<ssize_t>(said.bytes.size()));
        ::fcntl(console->get(), F_SETFL, O_NONBLOCK);
        options_.agents.push_back(
            {fmt::format("web{}", agents_.size()), [console] {
                 UniqueFd from = duplicate(console->get());
                 return Result<AgentPipe>({std::move(*console), std::move(from), {}, {}});
             }});
    }
    // One that says nothing of itself.
    void add_silent(size_t& started) {
        options_.agents.push_back(
            {fmt::format("silent{}", options_.agents.size()), [this, &started] {
                 int ends[2];
                 EXPECT_EQ(
                     ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
                 agents_.emplace_back(ends[1]);
                 started++;
                 UniqueFd console(ends[0]), from = duplicate(ends[0]);
                 return Result<AgentPipe>({std::move(console), std::move(from), {}, {}});
             }});
    }
    void say_hello(size_t agent) {
        std::string bytes(preamble);
        put_frame(bytes, FrameKind::hello, encoded(own_hello("auger test")));
        ASSERT_GT(::send(agents_.at(agent).get(), bytes.data(), bytes.size(), MSG_DONTWAIT), 0);
    }
    // Answers the ping of that time: its clock is so far ahead by now.
    void pong(size_t agent, uint64_t sent_ns, uint64_t ahead_ns) {
        std::string bytes;
        put_frame(bytes, FrameKind::pong, encoded(Pong{sent_ns, sent_ns + ahead_ns}));
        ASSERT_GT(::send(agents_.at(agent).get(), bytes.data(), bytes.size(), MSG_DONTWAIT), 0);
    }
    HostReport::State state_of(size_t host) const { return backend_->hosts().at(host).state; }
    std::string cause_of(size_t host) const { return backend_->hosts().at(host).cause; }
    void limit_starting(size_t most) { options_.most_starting = most; }
    void begin() {
        options_.clock = [this] { return now_ns; };
        // What is read of a host takes time to be allowed; then it is the moment of their pings.
        now_ns = start_ns - 1'000'000'000;
        // Who is silent is not waited for.
        options_.go_on = [this, rounds = 0]() mutable {
            now_ns = start_ns;
            return ++rounds < 10;
        };
        auto made = make_hosts_backend(options_, arrivals);
        if (!made)
            throw std::runtime_error(made.error().message());
        backend_ = std::move(*made);
        now_ns = later_ns;
    }
    void poll() { ASSERT_TRUE(backend_->poll(std::chrono::nanoseconds(0), -1)); }

    uint64_t now_ns = 0;
    Arrivals arrivals;

  private:
    HostsOptions options_;
    std::vector<UniqueFd> agents_;
    std::unique_ptr<Backend> backend_;
};

TEST_F(DeliveryOfHosts, IsInTheOrderOfTimeAndWhole) {
    std::mt19937 random(7);
    std::vector<Arrivals::Arrival> all;
    for (uint32_t host = 0; host < 20; host++) {
        SaidAlready said(host * 12'345);
        uint64_t time = start_ns;
        for (int block = 0; block < 5; block++) {
            std::vector<uint64_t> samples;
            for (int i = 0; i < 20; i++) {
                // Some at the same time as others'.
                samples.push_back(time += random() % 3 * 1000);
                all.emplace_back(time, MachineId{host});
            }
            said.block(block < 4 ? time : later_ns, samples, block == 0);
        }
        add(said);
    }
    begin();
    poll();
    EXPECT_TRUE(std::ranges::is_sorted(arrivals.samples, {}, &Arrivals::Arrival::first));
    EXPECT_THAT(arrivals.samples, testing::UnorderedElementsAreArray(all));
    EXPECT_EQ(arrivals.times.back(), later_ns);
}

// Up to what the latest of those that are waited for has told.
TEST_F(DeliveryOfHosts, GoesNoFurtherThanAllHaveTold) {
    SaidAlready quick(0), slow(500);
    quick.block(later_ns, {start_ns + 1000, start_ns + 3000}, true);
    slow.block(start_ns + 2000, {start_ns + 2000}, true);
    add(quick);
    add(slow);
    begin();
    poll();
    EXPECT_THAT(arrivals.samples,
                testing::ElementsAre(Arrivals::Arrival{start_ns + 1000, MachineId{0}},
                                     Arrivals::Arrival{start_ns + 2000, MachineId{1}}));
    EXPECT_EQ(arrivals.times.back(), start_ns + 2000);
    // It is not, for longer than 2 s.
    now_ns = start_ns + 2'100'000'000;
    poll();
    EXPECT_EQ(arrivals.samples.size(), 3u);
}

// sshd drops connections where too many are still to log in.
TEST_F(DeliveryOfHosts, AgentsAreStartedAFewAtATime) {
    SaidAlready said(0);
    said.block(later_ns, {}, true);
    add(said);
    size_t started = 0;
    for (int i = 0; i < 7; i++)
        add_silent(started);
    limit_starting(3);
    begin();
    poll();
    EXPECT_EQ(started, 3u);
    say_hello(1);
    say_hello(2);
    for (int i = 0; i < 5; i++) {
        now_ns += 30'000'000;
        poll();
    }
    EXPECT_EQ(started, 5u);
}

// What it tells is of other times than it seems: it is begun anew, with its clock as it is now.
TEST_F(DeliveryOfHosts, WhoseClockJumpsIsBegunAnew) {
    SaidAlready sound(0), slept(0);
    sound.block(later_ns, {start_ns + 1000}, true);
    slept.block(later_ns, {start_ns + 2000}, true);
    add(sound);
    add(slept);
    begin();
    poll();
    uint64_t sent_ns = start_ns;
    for (int i = 0; i < 9 && state_of(1) != HostReport::State::lost; i++) {
        pong(0, sent_ns, 0);
        pong(1, sent_ns, 600'000'000'000);
        sent_ns = now_ns += 1'000'000'000;
        poll();
    }
    EXPECT_EQ(state_of(0), HostReport::State::live);
    EXPECT_EQ(state_of(1), HostReport::State::lost);
    EXPECT_THAT(cause_of(1), testing::HasSubstr("has slept"));
    EXPECT_EQ(arrivals.samples.size(), 2u);
}

// What makes no sense ends that host's stream, and no other's.
TEST_F(DeliveryOfHosts, GoesOnWhereOneMakesNoSense) {
    SaidAlready sound(0), broken(0);
    sound.block(later_ns, {start_ns + 1000, start_ns + 5000}, true);
    broken.block(later_ns, {start_ns + 2000, start_ns + 3000}, false); // of what is not defined
    add(sound);
    add(broken);
    begin();
    poll();
    poll();
    EXPECT_THAT(arrivals.samples,
                testing::ElementsAre(Arrivals::Arrival{start_ns + 1000, MachineId{0}},
                                     Arrivals::Arrival{start_ns + 5000, MachineId{0}}));
}

} // namespace
} // namespace auger::remote
