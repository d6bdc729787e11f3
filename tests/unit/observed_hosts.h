// SPDX-License-Identifier: GPL-3.0-or-later
// A console's backend over several known machines (observed_host.h), and what they say of
// themselves.
#pragma once

#include "loader/remote/hosts_backend.h"
#include "tests/unit/observed_host.h"
#include "views/model/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace auger {

class ObservedHosts : public testing::Test {
  protected:
    void observe(const std::vector<test::Mishap>& mishaps = {{}, {}, {}},
                 uint64_t bytes_per_second = 100 << 20) {
        for (uint32_t i = 0; i < mishaps.size(); i++)
            hosts.push_back(std::make_unique<test::ObservedHost>(i, mishaps[i]));
        remote::HostsOptions options;
        options.program = "auger test";
        options.bytes_per_second = bytes_per_second;
        options.open.at_terminal = true;
        for (const auto& host : hosts)
            options.agents.push_back({name(host->index), host->connect()});
        for (const auto& [name, connect] : others)
            options.agents.push_back({name, connect});
        auto made = remote::make_hosts_backend(options, model);
        // Which fails the test; an assertion would let it go on without a backend.
        if (!made)
            throw std::runtime_error(made.error().message());
        backend = std::move(*made);
    }
    static std::string name(uint32_t index) { return "web" + std::to_string(index + 1); }

    void poll_until(const std::function<bool()>& holds) {
        while (!holds())
            ASSERT_TRUE(backend->poll(std::chrono::milliseconds(20), -1));
    }
    void all_live() {
        poll_until([&] {
            return std::ranges::all_of(backend->hosts(), [](const HostReport& host) {
                return host.state == HostReport::State::live;
            });
        });
    }
    HostReport::State state_of(size_t host) const { return backend->hosts()[host].state; }

    // What each host says is in force; none twice.
    std::vector<std::string> settings() const { return backend->complete_function("", 10); }
    // Calls that it made, by its own count.
    std::map<std::string, uint64_t> truth() const {
        std::map<std::string, uint64_t> calls;
        for (const uint64_t told : backend->links())
            calls[name(static_cast<uint32_t>(told >> 48))] = told & 0xffffff;
        return calls;
    }
    uint64_t slow_truth() const {
        uint64_t slow = 0;
        for (const uint64_t told : backend->links())
            slow += told >> 24 & 0xffffff;
        return slow;
    }
    double counted(const std::string& host) const {
        return model.probe_statistics(ProbeId{1}, {}, HostChoice{host}).entries;
    }

    // No host makes calls of the probe from here on, and all that were are counted.
    void end_of_calls() {
        ASSERT_TRUE(backend->set_attached(ProbeId{1}, false));
        ASSERT_TRUE(backend->refresh());
    }

    // Edits of every kind, in an order in which each is valid.
    using Edit = std::function<Result<void>()>;
    std::vector<Edit> edits() {
        const auto done = [](const auto& result) {
            return result ? Result<void>() : Result<void>(result.error());
        };
        const Threshold fixed{Threshold::Kind::fixed, test::slow_duration, 0};
        TargetSpec target;
        target.kind = TargetSpec::Kind::name;
        target.name = "service";
        FilterSpec filter;
        filter.comms = {"worker"};
        SamplingSettings sampling;
        sampling.rate_hz = 999;
        OnlyInfo only;
        only.text = "in handle";
        only.gate = {{{GateTerm::Kind::call, ProbeId{1}, {}, 0, ""}}, {{{0}, {}}}};
        return {[=, this] { return backend->set_target(target); },
                [=, this] {
                    return done(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
                },
                [=, this] { return backend->set_slow(ProbeId{1}, fixed, {}); },
                [=, this] {
                    return backend->set_split({true, ProbeId{1}, fixed, false});
                },
                [=, this] { return backend->set_sampling(sampling); },
                [=, this] { return backend->set_filter(filter); },
                [=, this] { return backend->set_only(only); },
                [=, this] {
                    return done(backend->add_probe({ProbeId{2}, "other", {}, {}, {}}));
                },
                [=, this] { return backend->set_attached(ProbeId{2}, false); },
                [=, this] { return backend->remove_probe(ProbeId{2}); }};
    }

    Model model;
    std::vector<std::unique_ptr<test::ObservedHost>> hosts;
    std::vector<remote::NamedAgent> others;
    std::unique_ptr<Backend> backend; // ends before what it talks to
};

} // namespace auger
