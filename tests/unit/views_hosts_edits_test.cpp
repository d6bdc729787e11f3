// SPDX-License-Identifier: GPL-3.0-or-later
// Edits of several hosts are made on all or on none, whoever refuses, takes long, is killed or
// comes back meanwhile.
#include "tests/unit/observed_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace auger {
namespace {

using test::Mishap;
using testing::HasSubstr;
using testing::SizeIs;

// A refusal, by each of them at each edit, leaves all of them as they were.
TEST_F(ObservedHosts, EditsAreMadeOnAllOrNone) {
    const size_t count = edits().size();
    for (size_t at = 0; at < count; at++) {
        const auto refusing = static_cast<uint32_t>(at % 3);
        SCOPED_TRACE(testing::Message() << "edit " << at << " refused by " << name(refusing));
        backend.reset();
        hosts.clear();
        std::vector<Mishap> mishaps(3);
        mishaps[refusing].refused_at = static_cast<int>(at);
        observe(mishaps);
        const std::vector<Edit> all = edits();
        for (size_t i = 0; i < count; i++) {
            const auto before = settings();
            const auto made = all[i]();
            EXPECT_EQ(made.ok(), i != at);
            EXPECT_THAT(settings(), SizeIs(1)) << "hosts have different settings";
            if (made)
                continue;
            EXPECT_THAT(made.error().message(), HasSubstr(name(refusing) + ": it is refused"));
            EXPECT_EQ(settings(), before);
            EXPECT_TRUE(all[i]()) << "it cannot be tried again";
            EXPECT_THAT(settings(), SizeIs(1));
        }
    }
}

// An edit that others lose by when it is taken back, and a target's are such, is not made by them.
TEST_F(ObservedHosts, WhatOneWouldRefuseIsNotTriedByTheOthers) {
    std::vector<Mishap> mishaps(3);
    mishaps[0].dies_before = mishaps[2].dies_before = 0; // with the first edit
    mishaps[1].says_before = true;
    observe(mishaps);
    const std::vector<Edit> all = edits();
    for (const size_t at : {0, 1}) { // a target, a probe
        const auto made = all[at]();
        ASSERT_FALSE(made);
        EXPECT_THAT(made.error().message(), HasSubstr("web2: it would be refused"));
        EXPECT_THAT(made.error().message(), HasSubstr("nothing was changed on any host"));
    }
    ASSERT_TRUE(backend->refresh());
    for (const HostReport& host : backend->hosts()) {
        EXPECT_EQ(host.state, HostReport::State::live);
        EXPECT_EQ(host.times_lost, 0u);
    }
}

// One that comes back while an edit is made is given what that made, not what was in force before.
TEST_F(ObservedHosts, WhoComesBackDuringAnEditHasIt) {
    test::Meeting& meeting = test::Meeting::make();
    std::vector<Mishap> mishaps(3);
    mishaps[0].meeting = &meeting;
    mishaps[0].waits_at = 1;
    mishaps[0].waits_for = 1; // in vain
    mishaps[2].dies_before = 0;
    observe(mishaps);
    hosts[2]->mishap.meeting = &meeting;
    hosts[2]->mishap.opens_late = true;
    const std::vector<Edit> all = edits();
    ASSERT_TRUE(all[0]());
    poll_until([&] { return state_of(2) == HostReport::State::starting; });
    ASSERT_TRUE(all[1]());
    all_live();
    EXPECT_THAT(settings(), SizeIs(1));
}

// Long at work on an edit, as on files that are large: the others have it meanwhile, and are asked
// for more, and it has all of that when it is done.
class LongAtWork : public ObservedHosts, public testing::WithParamInterface<int> {};

// Of three hosts the second one is at work on this edit, until the meeting counts one.
std::vector<Mishap> one_at_work(test::Meeting& meeting, int edit) {
    std::vector<Mishap> mishaps(3);
    mishaps[1].meeting = &meeting;
    mishaps[1].busy_at = edit;
    mishaps[1].waits_for = 1;
    return mishaps;
}

TEST_P(LongAtWork, OnAnEditIsNotWaitedFor) {
    const size_t count = 7; // up to those of a second probe, whose calls hosts count as well
    test::Meeting& meeting = test::Meeting::make();
    observe(one_at_work(meeting, GetParam()));
    const std::vector<Edit> all = edits();
    for (size_t i = 0; i < count; i++) {
        ASSERT_TRUE(all[i]());
        EXPECT_EQ(state_of(1), static_cast<int>(i) < GetParam() ? HostReport::State::live
                                                                : HostReport::State::joining);
    }
    const double before = counted("web1");
    poll_until([&] { return counted("web1") > before + 50; });
    EXPECT_EQ(state_of(1), HostReport::State::joining);
    meeting.given = 1;
    all_live();
    EXPECT_THAT(settings(), SizeIs(1));
    EXPECT_EQ(backend->hosts()[1].times_lost, 0u);
    end_of_calls();
    for (const char* host : {"web1", "web2", "web3"})
        EXPECT_EQ(counted(host), static_cast<double>(truth().at(host))) << host;
}

// The target, a probe, and what is asked for last.
INSTANTIATE_TEST_SUITE_P(Edits, LongAtWork, testing::Values(0, 1, 6));

// Another one refuses what it is at work on: it takes it back when it is done, whether or not it
// refuses it as well.
TEST_F(ObservedHosts, WhoIsLongAtWorkOnAnEditThatIsRefusedHasItNot) {
    const int at = 1; // a probe
    for (const bool refuses : {false, true}) {
        SCOPED_TRACE(testing::Message() << "it refuses it as well: " << refuses);
        backend.reset();
        hosts.clear();
        test::Meeting& meeting = test::Meeting::make();
        std::vector<Mishap> mishaps = one_at_work(meeting, at);
        mishaps[0].refused_at = at;
        mishaps[1].refused_at = refuses ? at : -1;
        observe(mishaps);
        const std::vector<Edit> all = edits();
        ASSERT_TRUE(all[0]());
        EXPECT_FALSE(all[at]());
        EXPECT_EQ(state_of(1), HostReport::State::joining);
        meeting.given = 1;
        all_live();
        EXPECT_THAT(settings(), SizeIs(1));
        EXPECT_EQ(backend->hosts()[1].times_lost, 0u);
        EXPECT_TRUE(all[at]()) << "it cannot be tried again";
        EXPECT_THAT(settings(), SizeIs(1));
    }
}

// It was deployed anew meanwhile, and a function that is timed is no more: all else of it is
// observed, and what is asked of that function is asked of the others.
TEST_F(ObservedHosts, WhoComesBackWithoutAFunctionIsObservedAllTheSame) {
    observe();
    const std::vector<Edit> all = edits();
    for (size_t i = 0; i < 4; i++) // up to the split
        ASSERT_TRUE(all[i]());
    EXPECT_THAT(backend->hosts()[1].lacks, SizeIs(0));
    hosts[1]->mishap.lacks = "handle";
    hosts[1]->peer.signal(SIGKILL);
    poll_until([&] {
        return backend->hosts()[1].times_lost == 1 && state_of(1) == HostReport::State::live;
    });
    EXPECT_THAT(backend->hosts()[1].lacks, testing::ElementsAre("handle"));
    for (const size_t i : {4, 5, 7, 8, 9}) { // but for `only`
        const auto made = all[i]();
        EXPECT_TRUE(made) << i << ": " << made.error().message();
    }
    const Threshold other{Threshold::Kind::fixed, 2 * test::slow_duration, 0};
    EXPECT_TRUE(backend->set_slow(ProbeId{1}, other, {}));
    EXPECT_TRUE(backend->set_split({true, ProbeId{1}, other, false}));
    // The others have all of it, and it has all but that.
    for (const char* in_force : {"rate=999", "filter=worker", "target=service"})
        for (const std::string& one : settings())
            EXPECT_THAT(one, HasSubstr(in_force));
    EXPECT_THAT(settings(), SizeIs(2));
    // What it cannot judge it refuses, for all.
    const auto only = all[6]();
    ASSERT_FALSE(only);
    EXPECT_THAT(only.error().message(), HasSubstr("web2: "));
    EXPECT_THAT(settings(), SizeIs(2));
    const double before = counted("web2"), of_others = counted("web1");
    poll_until([&] { return counted("web1") > of_others + 50; });
    EXPECT_EQ(counted("web2"), before);
    EXPECT_EQ(backend->hosts()[1].times_lost, 1u);

    EXPECT_TRUE(backend->set_split({}));
    EXPECT_TRUE(backend->remove_probe(ProbeId{1}));
    EXPECT_THAT(backend->hosts()[1].lacks, SizeIs(0));
    EXPECT_THAT(settings(), SizeIs(1));
    // It has what is the same, as soon as it has the function again.
    EXPECT_FALSE(all[1]());
    hosts[1]->mishap.lacks = "";
    hosts[1]->peer.signal(SIGKILL);
    poll_until([&] {
        return backend->hosts()[1].times_lost == 2 && state_of(1) == HostReport::State::live;
    });
    EXPECT_TRUE(all[1]());
    EXPECT_THAT(settings(), SizeIs(1));
}

// Alone with an edit that it refuses, it is begun anew.
TEST_F(ObservedHosts, WhoRefusesLateWhatOthersHaveIsLost) {
    test::Meeting& meeting = test::Meeting::make();
    std::vector<Mishap> mishaps = one_at_work(meeting, 0);
    mishaps[1].refused_at = 0;
    observe(mishaps);
    ASSERT_TRUE(edits()[0]());
    EXPECT_EQ(state_of(1), HostReport::State::joining);
    meeting.given = 1;
    poll_until([&] { return state_of(1) == HostReport::State::lost; });
    EXPECT_THAT(backend->hosts()[1].cause, HasSubstr("it is refused"));
    EXPECT_EQ(backend->hosts()[1].times_lost, 1u);
    all_live();
    EXPECT_THAT(settings(), SizeIs(1));
}

// While it is, all others are lost at the next edit, which does not come about then.
TEST_F(ObservedHosts, WhoIsLongAtWorkHasNothingThatNobodyElseHas) {
    test::Meeting& meeting = test::Meeting::make();
    std::vector<Mishap> mishaps = one_at_work(meeting, 0);
    mishaps[0].dies_before = mishaps[2].dies_before = 1;
    observe(mishaps);
    const std::vector<Edit> all = edits();
    ASSERT_TRUE(all[0]());
    EXPECT_FALSE(all[1]());
    meeting.given = 1;
    all_live();
    EXPECT_THAT(settings(), SizeIs(1));
    EXPECT_EQ(backend->hosts()[1].times_lost, 0u);
}

// It was given the edit behind the settings in force; then another host refused it.
TEST_F(ObservedHosts, WhoComesBackDuringAnEditThatIsRefusedHasItNot) {
    test::Meeting& meeting = test::Meeting::make();
    std::vector<Mishap> mishaps(3);
    mishaps[0].meeting = &meeting;
    mishaps[0].waits_at = mishaps[0].refused_at = 1;
    mishaps[0].waits_for = 2;
    mishaps[2].dies_before = 0;
    observe(mishaps);
    hosts[2]->mishap.meeting = &meeting;
    hosts[2]->mishap.edits_late = true;
    const std::vector<Edit> all = edits();
    ASSERT_TRUE(all[0]());
    poll_until([&] { return state_of(2) == HostReport::State::joining; });
    EXPECT_FALSE(all[1]());
    EXPECT_GE(meeting.given, 2);
    all_live();
    EXPECT_THAT(settings(), SizeIs(1));
}

// Killed at each edit, before it or behind it: others have it, and so has who comes back.
TEST_F(ObservedHosts, WhoIsKilledComesBackAsTheOthersAre) {
    const size_t count = edits().size();
    for (size_t at = 0; at < 2 * count; at++) {
        const auto victim = static_cast<uint32_t>(at % 3);
        const int edit = static_cast<int>(at / 2);
        SCOPED_TRACE(testing::Message() << name(victim) << " killed "
                                        << (at % 2 ? "behind" : "before") << " edit " << edit);
        backend.reset();
        hosts.clear();
        std::vector<Mishap> mishaps(3);
        (at % 2 ? mishaps[victim].dies_after : mishaps[victim].dies_before) = edit;
        observe(mishaps);
        const std::vector<Edit> all = edits();
        for (size_t i = 0; i < count; i++) {
            const auto made = all[i]();
            EXPECT_TRUE(made) << made.error().message();
            EXPECT_THAT(settings(), SizeIs(1)) << "edit " << i;
        }
        if (at % 7 == 0) { // it is started again after a second
            all_live();
            EXPECT_THAT(settings(), SizeIs(1));
            EXPECT_EQ(backend->hosts()[victim].times_lost, 1u);
        }
    }
}

// Killed or stopped while it is asked whether it would refuse one: a target, a probe, another.
TEST_F(ObservedHosts, WhoIsGoneWhenItIsAskedComesBackAsTheOthersAre) {
    for (int at = 0; at < 6; at++) {
        const auto victim = static_cast<uint32_t>(at % 3);
        const bool stops = at >= 3;
        SCOPED_TRACE(testing::Message() << name(victim) << (stops ? " stopped" : " killed"));
        backend.reset();
        hosts.clear();
        std::vector<Mishap> mishaps(3);
        (stops ? mishaps[victim].stops_asked : mishaps[victim].dies_asked) = at % 3;
        observe(mishaps);
        for (const Edit& edit : edits()) {
            const auto made = edit();
            EXPECT_TRUE(made) << made.error().message();
            EXPECT_THAT(settings(), SizeIs(1));
        }
        if (stops)
            hosts[victim]->peer.signal(SIGKILL);
        all_live();
        EXPECT_THAT(settings(), SizeIs(1));
        EXPECT_EQ(backend->hosts()[victim].times_lost, 1u);
    }
}

} // namespace
} // namespace auger
