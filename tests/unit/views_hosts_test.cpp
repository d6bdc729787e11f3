// SPDX-License-Identifier: GPL-3.0-or-later
// Several hosts are observed as one: counts are the sum, percentiles those of all calls, and who is
// stopped or killed changes nothing of the others.
#include "loader/recording/replay_backend.h"
#include "loader/stats/histogram.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/observed_hosts.h"
#include "views/model/account.h"
#include "views/model/diff.h"
#include "views/model/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

namespace auger {
namespace {

using test::Mishap;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(ObservedHosts, AreTheSum) {
    observe();
    const std::vector<Edit> all_edits = edits();
    for (size_t i = 0; i < 5; i++) // up to sampling
        ASSERT_TRUE(all_edits[i]());
    poll_until([&] {
        return std::ranges::all_of(
            hosts, [&](const auto& host) { return counted(name(host->index)) > 300; });
    });
    end_of_calls();
    std::vector<uint64_t> durations;
    for (const auto& host : hosts) {
        const uint64_t calls = truth().at(name(host->index));
        EXPECT_EQ(counted(name(host->index)), static_cast<double>(calls));
        for (uint64_t n = 0; n < calls; n++)
            durations.push_back(test::call_duration(host->index, n));
    }
    const CallStatistics all = model.probe_statistics(ProbeId{1});
    EXPECT_EQ(all.entries, static_cast<double>(durations.size()));
    EXPECT_EQ(all.sum_ns, static_cast<double>(
                              std::accumulate(durations.begin(), durations.end(), uint64_t{0})));
    std::ranges::sort(durations);
    for (const double q : {0.5, 0.95, 0.99}) {
        const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(durations.size())));
        EXPECT_EQ(bucket_of(static_cast<uint64_t>(all.quantile(q))),
                  bucket_of(durations[rank - 1]));
    }
    // Each call held one sample, whose function says whether it was slow.
    const Account account = make_account(model);
    EXPECT_TRUE(account.calls_add_up);
    EXPECT_EQ(account.classes[CallClass::slow].samples, static_cast<double>(slow_truth()));
    EXPECT_EQ(account.classes[CallClass::fast].samples,
              all.entries - account.classes[CallClass::slow].samples);
    for (const auto& [shown, function] :
         {std::pair(CallClass::slow, "rebuild"), std::pair(CallClass::fast, "handle")}) {
        const FlameTree tree = fold(model, {}, shown);
        for (const FlameNode& node : tree.nodes)
            if (node.depth > 1) {
                EXPECT_EQ(model.symbols().name(node.function), function);
            }
    }
}

TEST_F(ObservedHosts, WhatWasCountedStaysAndCallsThatWereOpenAreDropped) {
    Mishap waits;
    waits.leaves_open = true;
    observe({{}, waits, {}});
    ASSERT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
    poll_until([&] { return counted("web2") > 50; });
    hosts[1]->peer.signal(SIGKILL);
    poll_until([&] { return state_of(1) == HostReport::State::lost; });
    const double before = counted("web2"), others = counted("web1");
    const auto of_web2 = [&] { return model.probe_statistics(ProbeId{1}, {}, HostChoice{"web2"}); };
    EXPECT_EQ(of_web2().open, 0);
    EXPECT_EQ(of_web2().dropped, 1);
    EXPECT_TRUE(make_account(model).calls_add_up);
    all_live();
    poll_until([&] { return counted("web2") > before + 50; });
    EXPECT_GT(counted("web1"), others);
    end_of_calls();
    // Of the agents that are there now each call was counted; of the former one what was told.
    EXPECT_EQ(counted("web1"), static_cast<double>(truth().at("web1")));
    EXPECT_EQ(counted("web2"), before + static_cast<double>(truth().at("web2")));
    EXPECT_TRUE(make_account(model).calls_add_up);
    EXPECT_EQ(model.ledger().samples, model.samples_received()) << "of both agents";
    EXPECT_EQ(model.find_probe(ProbeId{1})->specs.size(), 4u) << "functions of both agents";
}

TEST_F(ObservedHosts, WhoIsStoppedIsNotWaitedFor) {
    observe();
    ASSERT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
    poll_until([&] { return counted("web2") > 50; });
    hosts[1]->peer.signal(SIGSTOP);
    poll_until([&] { return state_of(1) == HostReport::State::stale; });
    const double others = counted("web1") + counted("web3"), stopped = counted("web2");
    poll_until([&] { return counted("web1") + counted("web3") > others + 100; });
    EXPECT_EQ(counted("web2"), stopped);
    // It goes on where it was.
    hosts[1]->peer.signal(SIGCONT);
    all_live();
    end_of_calls();
    for (const char* host : {"web1", "web2", "web3"})
        EXPECT_EQ(counted(host), static_cast<double>(truth().at(host))) << host;
    EXPECT_EQ(backend->hosts()[1].times_lost, 0u);
    // What is changed while it is silent it would do when nobody expects it.
    hosts[1]->peer.signal(SIGSTOP);
    poll_until([&] { return state_of(1) == HostReport::State::stale; });
    SamplingSettings sampling;
    sampling.rate_hz = 99;
    ASSERT_TRUE(backend->set_sampling(sampling));
    EXPECT_EQ(state_of(1), HostReport::State::lost);
    EXPECT_THAT(settings(), SizeIs(1));
    all_live();
    EXPECT_THAT(settings(), SizeIs(1));
}

TEST_F(ObservedHosts, OpenCallsAreThoseOfAll) {
    observe();
    ASSERT_TRUE(backend->add_probe({ProbeId{4}, "handle", {}, {}, {}}));
    const auto open = backend->open_calls(ProbeId{4});
    ASSERT_TRUE(open);
    ASSERT_THAT(*open, SizeIs(3));
    EXPECT_EQ((*open)[0].age_ns, 3000u) << "the oldest first";
    for (const OpenCall& call : *open) {
        EXPECT_EQ(call.probe, ProbeId{4});
        ASSERT_THAT(call.stack, SizeIs(1));
        const FunctionId function = model.symbols().frames(call.stack[0]).front().function;
        EXPECT_EQ(model.symbols().name(function), "rebuild");
    }
}

TEST_F(ObservedHosts, ThreadsAreThoseOfAll) {
    observe();
    const auto threads = backend->threads_now();
    ASSERT_TRUE(threads);
    std::set<std::string> machines;
    for (const ThreadNow& thread : *threads) {
        machines.insert(model.machine(thread.thread.machine).name);
        EXPECT_EQ(thread.thread.tid, 100u);
        EXPECT_EQ(thread.wait, "futex");
        ASSERT_THAT(thread.stack, SizeIs(1));
        const FunctionId function = model.symbols().frames(thread.stack[0]).front().function;
        EXPECT_EQ(model.symbols().name(function), "rebuild");
    }
    EXPECT_THAT(*threads, SizeIs(3));
    EXPECT_EQ(machines, (std::set<std::string>{"web1", "web2", "web3"}));
}

TEST_F(ObservedHosts, OneIsComparedWithTheRest) {
    observe();
    ASSERT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
    ASSERT_TRUE(backend->set_split(
        {true, ProbeId{1}, {Threshold::Kind::fixed, test::slow_duration, 0}, false}));
    poll_until([&] { return counted("web3") > 200 && counted("web1") > 200; });
    end_of_calls();
    ClassFilter one, rest;
    one.host = HostChoice{"web3"};
    rest.host = HostChoice{"web3", true};
    EXPECT_TRUE(one.excludes(rest));
    const auto diff = diff_classes(model, {}, one, rest);
    ASSERT_TRUE(diff) << diff.error().message();
    EXPECT_EQ(diff->first.calls, counted("web3"));
    EXPECT_EQ(diff->second.calls, counted("web1") + counted("web2"));
    EXPECT_EQ(diff->first.samples.samples, counted("web3")) << "each call holds one";
    // Of web1 no call is slow: rebuild is web3's more than others'.
    ASSERT_FALSE(diff->functions.empty());
    const double part = fold(model, {}, one).total(0).samples;
    EXPECT_EQ(part, counted("web3"));
    ClassFilter nobody;
    nobody.host = HostChoice{"web9"};
    EXPECT_THAT(lacking_part(model, nobody)->message(), HasSubstr("web1, web2, web3"));
}

// By the host's own clock and ids; together they are what was observed, and one that was lost has
// two, of which none is another host's, whatever that is called.
TEST_F(ObservedHosts, EachIsRecordedByItself) {
    test::TemporaryFolder folder;
    test::ObservedHost fourth(3, {});
    others.push_back({"web3-2", fourth.connect()});
    observe();
    ASSERT_TRUE(backend->record(folder.path("x.auger")));
    ASSERT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
    poll_until([&] { return counted("web1") > 100 && counted("web3") > 100; });
    hosts[2]->peer.signal(SIGKILL);
    poll_until([&] { return state_of(2) == HostReport::State::lost; });
    all_live();
    const double before = counted("web3-2");
    poll_until([&] { return counted("web3-2") > before; });
    end_of_calls();
    ASSERT_TRUE(backend->record({}));
    Model replayed;
    const std::vector<std::string> paths{folder.path("x-web1.auger"), folder.path("x-web2.auger"),
                                         folder.path("x-web3.auger"), folder.path("x-web3,2.auger"),
                                         folder.path("x-web3-2.auger")};
    auto replay = open_replay(paths, replayed);
    ASSERT_TRUE(replay) << replay.error().message();
    while (*(*replay)->poll(std::chrono::hours(1), -1))
        ;
    EXPECT_EQ(replayed.samples_received(), model.samples_received());
    for (const char* host : {"web1", "web2", "web3", "web3-2"})
        EXPECT_EQ(replayed.probe_statistics(ProbeId{1}, {}, HostChoice{host}).sum_ns,
                  model.probe_statistics(ProbeId{1}, {}, HostChoice{host}).sum_ns)
            << host;
    EXPECT_THAT((*replay)->capabilities().front().detail, HasSubstr("x-web1.auger and 4 more"));
    EXPECT_FALSE(backend->record("/nonexistent/x.auger"));
}

// Each in a folder of its own, in which recordings follow each other, also when it was lost; and
// all of them together are what was seen here.
TEST_F(ObservedHosts, EachIsRecordedByIntervals) {
    test::TemporaryFolder folder;
    observe();
    const std::string path = folder.path("day");
    ASSERT_TRUE(backend->record_intervals({path, 200'000'000, 1000}));
    ASSERT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
    const auto written = [&] { return backend->interval_recordings().written; };
    poll_until([&] { return counted("web1") > 100 && written() > 5; });
    hosts[2]->peer.signal(SIGKILL);
    poll_until([&] { return state_of(2) == HostReport::State::lost; });
    all_live();
    const double before = counted("web3");
    poll_until([&] { return counted("web3") > before + 50; });
    end_of_calls();
    ASSERT_TRUE(backend->record_intervals({}));
    EXPECT_EQ(backend->interval_recordings().failed, 0u);
    size_t files = 0;
    for (const char* host : {"web1", "web2", "web3"})
        for (const auto& entry : std::filesystem::directory_iterator(path + "/" + host))
            files += entry.is_regular_file() && !entry.is_symlink();
    EXPECT_EQ(files, written());
    EXPECT_FALSE(backend->interval_recordings().last.empty());
    Model replayed;
    auto replay = open_replay({{path}}, replayed);
    ASSERT_TRUE(replay) << replay.error().message();
    while (*(*replay)->poll(std::chrono::hours(1), -1))
        ;
    EXPECT_EQ(replayed.samples_received(), model.samples_received());
    for (const char* host : {"web1", "web2", "web3"})
        EXPECT_EQ(replayed.probe_statistics(ProbeId{1}, {}, HostChoice{host}).sum_ns,
                  model.probe_statistics(ProbeId{1}, {}, HostChoice{host}).sum_ns)
            << host;
    // Where it cannot be written, what goes on does.
    ASSERT_TRUE(backend->record_intervals({path, 200'000'000, 1000}));
    EXPECT_FALSE(backend->record_intervals({"/proc/none/x", 200'000'000, 1000}));
    const uint64_t so_far = written();
    poll_until([&] { return written() > so_far + 3; });
    ASSERT_TRUE(backend->record_intervals({}));
}

TEST_F(ObservedHosts, WhoCannotBeReachedIsSaid) {
    others.push_back({"gone", []() -> Result<remote::AgentPipe> {
                          return Error{"start", "ssh", "No such file or directory", ""};
                      }});
    observe({{}});
    EXPECT_EQ(state_of(1), HostReport::State::lost);
    EXPECT_THAT(backend->hosts()[1].cause, HasSubstr("No such file"));
    EXPECT_TRUE(backend->add_probe({ProbeId{1}, "handle", {}, {}, {}}));
    remote::HostsOptions options;
    options.agents = others;
    const auto none = remote::make_hosts_backend(options, model);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().message(), HasSubstr("gone: start ssh: No such file"));
}

} // namespace
} // namespace auger
