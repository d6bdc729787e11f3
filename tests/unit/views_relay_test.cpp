// SPDX-License-Identifier: GPL-3.0-or-later
// Hosts behind a relay are observed as any: each call counts, by host too; edits are made on all of
// them or on none; and there is one relay between a console and a host, no more.
#include "tests/unit/observed_hosts.h"
#include "views/model/account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace auger {
namespace {

using test::Mishap;
using testing::HasSubstr;

// A process that relays these: machines, or relays.
remote::ConnectAgent relay(test::ForkedPeer& peer,
                           const std::function<std::vector<remote::NamedAgent>()>& make) {
    return [&peer, make] {
        return peer.start([make](int socket) {
            const std::vector<remote::NamedAgent> agents = make();
            (void)remote::serve_agent(
                "auger relay",
                [&](const remote::OpenRequest& request, EventSink& sink) {
                    remote::HostsOptions options;
                    options.program = "auger relay";
                    options.open = request;
                    options.agents = agents;
                    options.relays = true;
                    return remote::make_hosts_backend(options, sink);
                },
                socket, socket, true);
        });
    };
}

// web2 and web3, behind a relay; web1 is not.
class RelayedHosts : public ObservedHosts {
  protected:
    void observe_relay(const std::vector<Mishap>& mishaps = {{}, {}}) {
        others = {{"relay", relay(peer_, [mishaps] {
                       static std::vector<std::unique_ptr<test::ObservedHost>> machines;
                       std::vector<remote::NamedAgent> agents;
                       for (uint32_t i = 0; i < mishaps.size(); i++) {
                           machines.push_back(
                               std::make_unique<test::ObservedHost>(i + 1, mishaps[i]));
                           agents.push_back({name(i + 1), machines.back()->connect()});
                       }
                       return agents;
                   })}};
        observe({{}});
        all_live();
    }
    // As they are shown; and as they call themselves.
    static std::vector<std::pair<std::string, std::string>> names() {
        return {{"web1", "web1"}, {"relay/web2", "web2"}, {"relay/web3", "web3"}};
    }

  private:
    test::ForkedPeer peer_;
};

TEST_F(RelayedHosts, AreTheSumAndEachIsKnown) {
    observe_relay();
    const std::vector<Edit> all_edits = edits();
    for (size_t i = 0; i < 5; i++) // up to sampling
        ASSERT_TRUE(all_edits[i]());
    poll_until([&] {
        return std::ranges::all_of(names(), [&](auto& host) { return counted(host.first) > 300; });
    });
    end_of_calls();
    double calls = 0;
    for (const auto& [shown, own] : names()) {
        EXPECT_EQ(counted(shown), static_cast<double>(truth().at(own))) << shown;
        calls += static_cast<double>(truth().at(own));
    }
    EXPECT_EQ(model.probe_statistics(ProbeId{1}).entries, calls);
    // Each call held one sample of 1,000 ns: fewer of them, of the same weight.
    const Account account = make_account(model);
    EXPECT_EQ(account.classes[CallClass::slow].weight_ns, 1000.0 * double(slow_truth()));
    EXPECT_EQ(account.classes.sum().weight_ns, 1000.0 * calls);
    EXPECT_LT(model.samples_received(), static_cast<uint64_t>(calls));
    EXPECT_TRUE(account.calls_add_up);
    // Open calls, too, are of their hosts.
    const auto open = backend->open_calls(ProbeId{1});
    ASSERT_TRUE(open);
    std::vector<std::string> whose;
    for (const OpenCall& call : *open)
        whose.push_back(model.machine(call.thread.machine).name);
    EXPECT_THAT(whose, testing::UnorderedElementsAre("web1", "relay/web2", "relay/web3"));
    const auto threads = backend->threads_now();
    ASSERT_TRUE(threads);
    whose.clear();
    for (const ThreadNow& thread : *threads)
        whose.push_back(model.machine(thread.thread.machine).name);
    EXPECT_THAT(whose, testing::UnorderedElementsAre("web1", "relay/web2", "relay/web3"));
}

TEST_F(RelayedHosts, EditsAreMadeOnAllOrNone) {
    Mishap refuses;
    refuses.refused_at = 1; // the probe
    observe_relay({{}, refuses});
    const std::vector<Edit> all_edits = edits();
    ASSERT_TRUE(all_edits[0]());
    const std::vector<std::string> before = settings();
    const Result<void> refused = all_edits[1]();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("it is refused"));
    EXPECT_EQ(settings(), before);
    ASSERT_TRUE(all_edits[1]());
    ASSERT_TRUE(backend->remove_probe(ProbeId{1}));
}

TEST_F(RelayedHosts, HowTheyAreIsSaid) {
    observe_relay();
    poll_until([&] { return backend->hosts().size() == 4; });
    poll_until([&] {
        return std::ranges::all_of(backend->hosts(), [](const HostReport& host) {
            return host.state == HostReport::State::live;
        });
    });
    std::vector<std::string> shown;
    for (const HostReport& host : backend->hosts())
        shown.push_back(host.name);
    EXPECT_THAT(shown, testing::ElementsAre("web1", "relay", "relay/web2", "relay/web3"));
}

TEST_F(RelayedHosts, ARelayBehindARelayIsRefused) {
    test::ForkedPeer outer;
    others = {{"relay", relay(outer, [] {
                   static test::ForkedPeer inner;
                   static test::ObservedHost machine(1);
                   return std::vector<remote::NamedAgent>{
                       {"deeper", relay(inner, [] {
                            return std::vector<remote::NamedAgent>{{"web2", machine.connect()}};
                        })}};
               })}};
    observe({{}});
    poll_until([&] { return state_of(1) == HostReport::State::lost; });
    EXPECT_THAT(backend->hosts()[1].cause, HasSubstr("it is a relay"));
    backend.reset();
}

} // namespace
} // namespace auger
