// SPDX-License-Identifier: GPL-3.0-or-later
// Ids of threads and stacks: one as long as anybody may hold it, and no more of them than that.
#include "loader/recording/definition_log.h"
#include "loader/stream/interner.h"
#include "loader/stream/tee.h"
#include "views/model/flame_stream.h"
#include "views/model/model.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <fmt/format.h>

#include <deque>
#include <map>
#include <random>

#if defined(__SANITIZE_ADDRESS__)
// Of sanitizer/allocator_interface.h, which GCC's packages lack.
extern "C" size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace auger {
namespace {

constexpr uint64_t kept_samples = 1'000, kept_slow_calls = 20;

// What the ids of a stream stand for now, and at each of the last samples and slow calls.
class Holder : public testing::Test {
  protected:
    struct Held {
        ThreadId thread;
        StackId stack;
        ThreadInfo thread_info;
        std::vector<LocationId> locations;
    };

    void expect_unchanged(const Held& held) {
        EXPECT_EQ(model.symbols().thread(held.thread), held.thread_info);
        const auto stack = model.symbols().stack(held.stack);
        EXPECT_EQ(std::vector(stack.begin(), stack.end()), held.locations);
    }
    Held use(uint32_t pid, uint32_t tid, const std::string& comm, std::vector<uint32_t> addresses) {
        std::vector<LocationId> locations;
        for (uint32_t address : addresses)
            locations.push_back(interner.location({ModuleId{0}, address, false}));
        return {interner.thread(pid, tid, comm),
                interner.stack(locations),
                {pid, tid, comm, ""},
                locations};
    }

    Model model{kept_samples};
    Interner interner{model, {kept_samples, kept_slow_calls}};
};

TEST_F(Holder, AnIdMeansTheSameForAsLongAsItMayBeHeld) {
    std::mt19937 random(7);
    std::deque<Held> samples, slow_calls;
    for (uint32_t i = 0; i < 30'000; i++) {
        const bool slow = random() % 50 == 0;
        slow ? interner.next_slow_call() : interner.next_sample();
        // Processes that come and go, a few that stay, and one that changes its name.
        const uint32_t pid = random() % 3 ? 1'000 + i / 10 : 1 + random() % 5;
        const std::string comm = pid == 1 ? fmt::format("name{}", i / 7) : "worker";
        std::deque<Held>& held = slow ? slow_calls : samples;
        held.push_back(use(pid, pid + random() % 3, comm, {uint32_t(random() % 50), pid, 7}));
        if (held.size() > (slow ? kept_slow_calls : kept_samples))
            held.pop_front();
        if (i % 500 == 0)
            for (const auto* all : {&samples, &slow_calls})
                for (const Held& one : *all)
                    expect_unchanged(one);
    }
    // 30,000 and more there were.
    EXPECT_LT(interner.threads(), 4 * kept_samples);
    EXPECT_LT(interner.stacks(), 4 * kept_samples);
}

TEST_F(Holder, WhatIsUsedStaysAndWhatIsGoneComesBackUnderAnotherId) {
    const Held first = use(10, 10, "main", {1, 2});
    for (uint32_t i = 0; i < 20'000; i++) {
        interner.next_sample();
        use(1'000 + i, 1'000 + i, "short", {100 + i});
        EXPECT_TRUE(interner.last_thread(10, 10)); // as LiveNames asks for a process's main thread
    }
    const Held again = use(10, 10, "main", {1, 2});
    EXPECT_EQ(again.thread, first.thread);
    expect_unchanged(again);
    EXPECT_FALSE(interner.last_thread(1'000, 1'000));
}

// The files that name a container may be there later than its first process.
TEST(Interning, AContainersNamesMayBecomeKnown) {
    Model model;
    Interner interner(model, Retention{});
    const ContainerNames names{"cart", "shop-7f", "default"};
    const ThreadId before = interner.thread(1, 1, "x", "/group", {});
    const ThreadId after = interner.thread(1, 1, "x", "/group", names);
    EXPECT_EQ(model.symbols().thread(before).container, ContainerNames{});
    EXPECT_EQ(model.symbols().thread(after).container, names);
    EXPECT_EQ(interner.thread(1, 1, "x", "/group", names), after);
    EXPECT_EQ(interner.last_thread(1, 1), after);
}

// Numbers of processes are used again, and who starts a container moves into its group first.
TEST(Interning, AThreadOfAnotherControlGroupIsAnotherOne) {
    Model model;
    Interner interner(model, Retention{});
    const ThreadId before = interner.thread(1, 1, "x", "/group", {});
    const ThreadId after = interner.thread(1, 1, "x", "/other", {});
    EXPECT_EQ(model.symbols().thread(before).cgroup, "/group");
    EXPECT_EQ(model.symbols().thread(after).cgroup, "/other");
    EXPECT_EQ(interner.thread(1, 1, "x", "/group", {}), before);
}

TEST(Interning, WithoutALimitNothingIsGivenAgain) {
    Model model;
    Interner interner(model);
    for (uint32_t i = 0; i < 5'000; i++) {
        interner.next_sample();
        EXPECT_EQ(interner.thread(i, i, "x").value, i);
    }
}

TEST(Definitions, AreKeptAsTheyAreNow) {
    DefinitionLog log;
    log.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", ""});
    Interner interner(log, {100, 10});
    size_t after_a_while = 0;
    std::string last;
    for (uint32_t i = 0; i < 20'000; i++) {
        interner.next_sample();
        const LocationId at = interner.location({ModuleId{0}, i % 10, false});
        interner.stack(std::vector<LocationId>(1 + i % 100, at));
        interner.thread(i, i, last = fmt::format("thread{}", i));
        if (i == 2'000)
            after_a_while = log.bytes();
    }
    EXPECT_LT(log.bytes(), after_a_while * 3 / 2);
    Model model;
    log.replay(model);
    EXPECT_EQ(model.symbols().threads(), interner.threads());
    EXPECT_EQ(model.symbols().stacks(), interner.stacks());
    EXPECT_EQ(model.symbols().thread(interner.thread(19'999, 19'999, last)).comm, last);
}

// Bytes that are allocated, by the allocator's own account.
size_t allocated() {
#if defined(__SANITIZE_ADDRESS__)
    return __sanitizer_get_current_allocated_bytes();
#else
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
#endif
}

// Stacks that are deep and never the same, which is the most that a stream can ask for. What is
// accounted for is what is there. Of 440 bytes of addresses the allocator rounds to its 16 and
// everything else is counted by its size; nodes of hash tables and such small things are counted
// about, and are under a tenth of the whole. And it has a bound that follows from how many samples
// are kept: ids are held for a quarter more samples than that, and as many as half of those held
// may be waiting to be found.
TEST(Memory, OfUniqueDeepStacksIsAccountedForAndBounded) {
    constexpr size_t kept = 4'000, depth = 110;
    const size_t before = allocated();
    Model model(kept);
    DefinitionLog log;
    Tee tee;
    tee.add(model);
    tee.add(log);
    tee.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", ""});
    Interner interner(tee, {kept, 100});
    std::mt19937 random(3);
    std::vector<LocationId> stack(depth);
    size_t most = 0;
    auto accounted = [&] {
        return model.memory_bytes() + model.stacks_bytes() + model.calls_bytes() +
               log.memory_bytes() + interner.memory_bytes();
    };
    for (size_t i = 0; i < 5 * kept; i++) {
        interner.next_sample();
        for (LocationId& location : stack)
            location = interner.location({ModuleId{0}, random() % 2'000, true});
        SampleEvent sample;
        sample.time_ns = i + 1;
        sample.weight_ns = 1;
        sample.thread = interner.thread(1, 1, "service");
        sample.stack = interner.stack(stack);
        tee.on_sample(sample);
        if (i % 500 == 0)
            most = std::max(most, accounted());
    }
    const auto there = static_cast<double>(allocated() - before);
    EXPECT_NEAR(static_cast<double>(accounted()), there, 0.1 * there);
    EXPECT_LE(interner.stacks(), kept * 5 / 4 * 3 / 2 + 1);
    // Each stack three times at most (by id, as shown, for recordings), with what surrounds it.
    EXPECT_LE(most, interner.stacks() * 3 * (depth * sizeof(LocationId) + 150) + 2'000 * 400);
}

// Three days on a machine where processes come and go all the time and none is like the one before:
// what is held depends on what is kept of the stream, not on how long that goes on.
TEST(ChurnSoak, MemoryIsBoundedUnderDaysOfNewProcesses) {
    constexpr uint64_t second = 1'000'000'000, minute = 60 * second;
    Model model(10'000);
    DefinitionLog log;
    Tee tee;
    tee.add(model);
    tee.add(log);
    tee.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", ""});
    Interner interner(tee, {10'000, 100});
    FlameStream by_process, by_tid;
    FlameQuery processes, tids;
    processes.window = {Window::Kind::ewma, 5 * minute};
    tids.by = *GroupBy::named("tid");
    std::mt19937 random(11);
    size_t after_a_day = 0;
    uint32_t pid = 1;
    for (uint64_t minutes = 1; minutes <= 3 * 24 * 60; minutes++) {
        for (uint32_t i = 0; i < 40; i++) {
            SampleEvent sample;
            sample.time_ns = minutes * minute + (i ^ 1) * second; // not quite in order
            sample.weight_ns = 1'000'000;
            interner.next_sample();
            pid += i % 4 == 0;
            interner.thread(pid, pid, fmt::format("job-{}", pid));
            sample.thread = interner.thread(pid, pid + i % 2, fmt::format("job-{}", pid));
            const LocationId stack[] = {
                interner.location({ModuleId{0}, random() % 100, false}),
                interner.location({ModuleId{0}, 100 + random() % 100, true}),
                interner.location({ModuleId{0}, 200 + random() % 100, true})};
            sample.stack = interner.stack(stack);
            tee.on_sample(sample);
        }
        while (by_process.refresh(model, processes) || by_tid.refresh(model, tids))
            ;
        const size_t held = model.symbols().memory_bytes() + log.bytes() +
                            by_process.memory_bytes() + by_tid.memory_bytes() +
                            100 * (interner.threads() + interner.stacks());
        if (minutes < 24 * 60)
            after_a_day = std::max(after_a_day, held);
        else
            ASSERT_LE(held, after_a_day + after_a_day / 20) << minutes;
    }
    EXPECT_GT(pid, 40'000u);
    // And it is all true still: as if it had been looked at for the first time.
    const auto labels_of = [&](const FlameTree& tree) {
        std::map<std::string, double> sums;
        for (uint32_t at = tree.root().first_child; at; at = tree.nodes[at].next_sibling)
            sums[tree.labels[tree.nodes[at].label]] += tree.total(at).samples;
        return sums;
    };
    EXPECT_EQ(labels_of(by_tid.tree()), labels_of(fold(model, {}, {}, *GroupBy::named("tid"))));
    FlameStream anew;
    while (anew.refresh(model, processes))
        ;
    const auto followed = labels_of(by_process.tree()), folded = labels_of(anew.tree());
    ASSERT_EQ(followed.size(), folded.size());
    for (const auto& [label, samples] : folded)
        EXPECT_NEAR(followed.at(label), samples, 1e-6) << label;
}

} // namespace
} // namespace auger
