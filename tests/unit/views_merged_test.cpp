// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of several machines, opened together, are the sum of what each of them is alone.
#include "loader/recording/format.h"
#include "loader/recording/recording_writer.h"
#include "loader/recording/replay_backend.h"
#include "loader/stream/tee.h"
#include "tests/support/durations.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/synthetic_stream.h"
#include "views/exports/collapsed.h"
#include "views/model/account.h"
#include "views/model/class_table.h"
#include "views/model/thread_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace auger {
namespace {

using testing::HasSubstr;

class Merged : public testing::Test {
  protected:
    struct Alone {
        std::string path;
        Model model;
    };
    // A machine that was watched: calls of handle, some slow, with samples; what it records is what
    // its model gets. Ids, tids and sequence numbers are the same on each, the content is not.
    std::unique_ptr<Alone> machine(const std::string& name, uint64_t boot_ns, uint32_t seed,
                                   bool names_itself = true) {
        auto alone = std::make_unique<Alone>();
        alone->path = folder.path(name + ".auger");
        auto writer = RecordingWriter::create(alone->path);
        EXPECT_TRUE(writer);
        Tee both;
        both.add(alone->model);
        both.add(**writer);
        if (names_itself)
            both.on_machine(MachineId{}, {name, boot_ns});
        std::mt19937 random(seed);
        const auto below = [&](uint64_t n) { return random() % n; };
        SyntheticStream stream(both);
        if (seed % 2) // numbers of things differ
            stream.stack({"other", "things"});
        const SpecId other = stream.probe(1, seed % 2 ? "only_here_" + name : "recv");
        const SpecId handle = stream.probe(2, "handle");
        SplitInfo split{true, ProbeId{2}, stream.fixed(5 * ms), false};
        split.branch = Branch::at_line("main.cc:9");
        split.label = "len";
        split.branch_bit = seed % 2 ? 3 : 0;
        split.branch_since_ns = split.label_since_ns = (1000 + seed * 200) * ms;
        both.on_split(split);
        uint64_t now = 1000 * ms;
        for (int i = 0; i < 300; i++, now += (12 + below(30)) * ms) {
            const uint64_t duration = (1 + below(9)) * ms + below(ms);
            const auto tid = static_cast<uint32_t>(100 + below(3));
            const CallKey call = stream.call(handle, now);
            for (uint64_t at = 0; at < duration; at += ms)
                stream.sample(now + at, tid,
                              stream.stack({"main", "handle", below(2) ? "parse" : "k:read"}),
                              below(8) ? std::vector{call} : std::vector<CallKey>{}, 1 + below(ms),
                              static_cast<SampleKind>(below(sample_kinds)));
            const uint32_t marks = below(2) ? 1u << split.branch_bit : 1u << 7;
            stream.end(tid, call, duration, below(20) == 0, marks,
                       stream.label(std::to_string(below(3))));
            std::vector<StatsEvent::MarkCount> counts;
            if (now >= split.branch_since_ns)
                counts = {{split.branch_bit, below(2), 1}};
            stream.stats(now + duration, handle, {duration}, 0, 0, 0, counts, below(2));
            stream.stats(now + duration, other, {duration / 2});
            if (below(10) == 0) {
                SlowCallEvent slow;
                slow.end = {now + duration, duration, stream.thread(tid), call, 1, false, {},
                            marks};
                slow.stack = stream.stack({"handle", "main"});
                both.on_slow_call(slow);
            }
            if (below(20) == 0)
                stream.ledger(now, below(10), below(5));
            both.on_time(now);
        }
        stream.ledger(now, 3, 2 + seed);
        EXPECT_TRUE((*writer)->finish());
        return alone;
    }
    void merge(std::vector<std::string> paths) {
        auto backend = open_replay(paths, model);
        ASSERT_TRUE(backend) << backend.error().message();
        for (uint64_t slices = 0; *(*backend)->poll(std::chrono::milliseconds(37), -1); slices++)
            ASSERT_LT(slices, 1'000'000u);
        target = (*backend)->target_status();
    }
    static ProbeId probe(const Model& model, const std::string& text) {
        for (const auto& [id, info] : model.probes())
            if (info.text == text)
                return id;
        return ProbeId{UINT32_MAX};
    }
    static std::map<std::string, uint64_t> lines(const std::string& folded) {
        std::map<std::string, uint64_t> lines;
        std::istringstream text(folded);
        for (std::string line; std::getline(text, line);)
            if (!line.starts_with('#'))
                lines[line.substr(0, line.rfind(' '))] += std::stoull(line.substr(line.rfind(' ')));
        return lines;
    }

    test::TemporaryFolder folder;
    Model model; // of all
    TargetStatus target;
};

TEST_F(Merged, EqualsTheSum) {
    const auto a = machine("web-1", 5'000'000 * ms, 1), b = machine("web-2", 7'000'000 * ms, 2),
               c = machine("web-3", 5'500'000 * ms, 4);
    merge({a->path, b->path, c->path});
    const auto sum = [&](auto of) { return of(a->model) + of(b->model) + of(c->model); };
    EXPECT_EQ(model.samples_received(), sum([](const Model& m) { return m.samples_received(); }));
    EXPECT_EQ(model.slow_calls().size(), sum([](const Model& m) { return m.slow_calls().size(); }));
    const Account all = make_account(model);
    EXPECT_TRUE(all.samples_add_up && all.calls_add_up);
    for (const CallClass one : all_call_classes) {
        const auto of = [&](auto what) {
            return sum([&](const Model& m) { return make_account(m).classes[one].*what; });
        };
        EXPECT_NEAR(all.classes[one].samples, of(&SampleSum::samples), 1e-6) << to_string(one);
        EXPECT_NEAR(all.classes[one].weight_ns, of(&SampleSum::weight_ns), 1e-3);
        EXPECT_NEAR(all.classes[one].blocked_ns, of(&SampleSum::blocked_ns), 1e-3);
        EXPECT_NEAR(all.classes[one].runnable_ns, of(&SampleSum::runnable_ns), 1e-3);
    }
    EXPECT_GT(all.classes[CallClass::slow].samples, 0);
    EXPECT_GT(all.classes[CallClass::outside].samples, 0);

    const auto statistics = [](const Model& m) { return m.probe_statistics(probe(m, "handle")); };
    const CallStatistics merged = statistics(model);
    EXPECT_EQ(merged.entries, sum([&](const Model& m) { return statistics(m).entries; }));
    EXPECT_EQ(merged.returns, sum([&](const Model& m) { return statistics(m).returns; }));
    EXPECT_EQ(merged.filtered, sum([&](const Model& m) { return statistics(m).filtered; }));
    EXPECT_EQ(merged.sum_ns, sum([&](const Model& m) { return statistics(m).sum_ns; }));
    for (uint32_t bucket = 0; bucket < merged.durations.end_bucket(); bucket++)
        EXPECT_EQ(merged.durations.count(bucket),
                  sum([&](const Model& m) { return statistics(m).durations.count(bucket); }));
    // Probes of equal text are one; the others stay.
    std::set<std::string> probes;
    for (const auto& [id, info] : model.probes())
        EXPECT_TRUE(probes.insert(info.text).second) << info.text;
    EXPECT_EQ(probes, (std::set<std::string>{"handle", "recv", "only_here_web-1"}));
    EXPECT_EQ(model.find_probe(probe(model, "handle"))->specs.size(), 3u);

    // Branches and values of equal text, whatever bits and numbers they had.
    const auto taken = [](const Model& m) {
        ClassFilter filter;
        filter.taken = true;
        filter.label = "2";
        return fold(m, {}, filter).total(0).weight_ns;
    };
    EXPECT_GT(taken(model), 0);
    EXPECT_NEAR(taken(model), sum(taken), 1e-3);
    // Of calls that began before a machine watched it nothing is known, though another did.
    for (const bool was_taken : {true, false}) {
        const auto known = [was_taken](const Model& m) {
            ClassFilter filter;
            filter.taken = was_taken;
            return fold(m, {}, filter).total(0).weight_ns;
        };
        EXPECT_NEAR(known(model), sum(known), 1e-3) << was_taken;
    }
    EXPECT_EQ(model.branch_counts().taken,
              sum([](const Model& m) { return m.branch_counts().taken; }));

    const LedgerEvent& ledger = model.ledger();
    EXPECT_EQ(ledger.ticks, sum([](const Model& m) { return m.ledger().ticks; }));
    EXPECT_EQ(ledger.samples, sum([](const Model& m) { return m.ledger().samples; }));
    EXPECT_EQ(ledger.on_cpu_ns, sum([](const Model& m) { return m.ledger().on_cpu_ns; }));
    EXPECT_EQ(ledger.wait_samples, sum([](const Model& m) { return m.ledger().wait_samples; }));
    for (const auto& [cause, events] : ledger.lost)
        EXPECT_EQ(events, sum([&](const Model& m) { return m.ledger().lost.at(cause); })) << cause;
}

TEST_F(Merged, TheMachineIsADimension) {
    const auto a = machine("web-1", 5'000'000 * ms, 1), b = machine("web-2", 7'000'000 * ms, 2);
    merge({a->path, b->path});
    const FlameTree tree = fold(model, {}, {}, *GroupBy::named("machine"));
    std::map<std::string, double> by_machine;
    for (uint32_t i = 1; i < tree.nodes.size(); i++)
        if (tree.nodes[i].depth == 1)
            by_machine[tree.labels[tree.nodes[i].label]] = tree.total(i).weight_ns;
    ASSERT_EQ(by_machine.size(), 2u);
    EXPECT_NEAR(by_machine["web-1"], fold(a->model, {}).total(0).weight_ns, 1e-3);
    EXPECT_NEAR(by_machine["web-2"], fold(b->model, {}).total(0).weight_ns, 1e-3);
    // A thread of the same number is another one there.
    EXPECT_EQ(sum_threads(a->model, {}, {}).size(), 3u);
    EXPECT_EQ(sum_threads(model, {}, {}).size(), 6u);
    // Otherwise they are one flame.
    auto lines_of = [&](const Model& m) {
        return lines(collapsed_stacks(m, {{{}, GroupBy::process, ""}, {}}));
    };
    EXPECT_EQ(lines_of(model).size(), lines_of(a->model).size());
    std::map<std::string, int> functions;
    for (const FunctionSums& function : sum_functions(model, {}))
        functions[std::string(model.symbols().name(function.function))]++;
    EXPECT_EQ(functions,
              (std::map<std::string, int>{{"main", 1}, {"handle", 1}, {"parse", 1}, {"read", 1}}));
    ASSERT_EQ(target.processes.size(), 2u);
    EXPECT_THAT(target.processes[0].comm, HasSubstr(" on web-1"));
}

TEST_F(Merged, TimesAreTheWallClocks) {
    // 2 s later by the wall clock, with a monotonic clock that is 10 s behind.
    const auto a = machine("a", 1'000'000 * ms, 1), b = machine("b", 1'012'000 * ms, 1);
    merge({b->path, a->path});
    EXPECT_EQ(model.first_ns(), a->model.first_ns());
    EXPECT_EQ(model.now_ns(), std::max(a->model.now_ns(), b->model.now_ns() + 12'000 * ms));
    const SampleStore& samples = model.samples();
    EXPECT_TRUE(std::is_sorted(samples.times(), samples.times() + samples.size()));
}

TEST_F(Merged, WithoutWallClockTheyBeginTogether) {
    const auto a = machine("a", 0, 1, false), b = machine("b", 3'000'000 * ms, 2);
    merge({a->path, b->path});
    EXPECT_EQ(model.first_ns(), b->model.first_ns());
    // Named by the file.
    EXPECT_THAT(collapsed_stacks(model, {{{}, *GroupBy::named("machine"), ""}, {}}),
                testing::AllOf(HasSubstr("a.auger;main"), HasSubstr("\nb_;main")));
}

TEST_F(Merged, ImpossibleTimesComeToAnEnd) {
    std::vector<std::string> paths;
    for (const uint64_t boot_ns : {uint64_t{1}, (uint64_t{1} << 62) - 1, UINT64_MAX}) {
        paths.push_back(folder.path(std::to_string(boot_ns)));
        auto writer = RecordingWriter::create(paths.back());
        ASSERT_TRUE(writer);
        (*writer)->on_machine(MachineId{}, {"m", boot_ns});
        SyntheticStream stream(**writer);
        for (const uint64_t time_ns :
             {uint64_t{1}, recording::max_time_ns - 3, uint64_t{5}, recording::max_time_ns})
            stream.sample(time_ns, 1, stream.stack({"f"}));
        ASSERT_TRUE((*writer)->finish());
    }
    auto backend = open_replay(paths, model);
    ASSERT_TRUE(backend);
    while (*(*backend)->poll(std::chrono::nanoseconds::max(), -1))
        ;
    EXPECT_EQ(model.samples_received(), 12u);
}

TEST_F(Merged, OneOfThemMayBeDamaged) {
    const auto a = machine("a", 0, 1), b = machine("b", 0, 2);
    std::filesystem::resize_file(b->path, std::filesystem::file_size(b->path) / 2);
    merge({a->path, b->path});
    EXPECT_GT(model.samples_received(), a->model.samples_received());
    ASSERT_FALSE(model.notices().empty());
    EXPECT_THAT(model.notices()[0].text, HasSubstr("b.auger"));
    const auto none = open_replay(std::vector<std::string>{a->path, folder.path("none")}, model);
    EXPECT_FALSE(none);
}

} // namespace
} // namespace auger
