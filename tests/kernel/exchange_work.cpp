// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/exchange_work.h"

#include "views/model/classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace auger::test {

void split_by_exchanges(Session& session, ProbeId id, const ExchangeDefinition& exchanges,
                        uint64_t slow_ns) {
    SpanDefinition span;
    span.exchanges = exchanges;
    span.text = "exchanges";
    must(session.backend().add_probe({id, "exchange", {}, {}, span}));
    SplitInfo split;
    split.active = true;
    split.probe = id;
    split.threshold = {Threshold::Kind::fixed, slow_ns, 0};
    must(session.backend().set_split(split));
}

nlohmann::json sample_whole_work(Session& session, Program& program, bool wall) {
    must(session.backend().set_sampling({1999, wall}));
    EXPECT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    program.go();
    nlohmann::json account = program.account();
    must(session.backend().set_sampling({}));
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(std::chrono::seconds(60));
    return account;
}

std::vector<WorkSamples> samples_of_work(Session& session, std::span<const char* const> functions) {
    struct Sample {
        size_t work;
        CallIndex exchange;
    };
    const Model& model = session.model();
    const Classifier classify(model);
    const SampleStore& samples = model.samples();
    std::vector<Sample> of_work;
    std::map<CallIndex, std::vector<uint64_t>> held;
    for (size_t i = 0; i < samples.size(); i++) {
        const auto names = session.stack_names(samples.stacks()[i]);
        const auto work = std::ranges::find_if(functions, [&](const char* function) {
            return std::ranges::find(names, function) != names.end();
        });
        if (work == functions.end())
            continue;
        const auto at = static_cast<size_t>(work - functions.begin());
        const CallIndex exchange = classify.outermost(samples.calls()[i], samples.times()[i]);
        of_work.push_back({at, exchange});
        if (exchange != no_call) {
            auto& counts = held[exchange];
            counts.resize(functions.size());
            counts[at]++;
        }
    }
    std::vector<WorkSamples> found(functions.size());
    for (const Sample& sample : of_work) {
        WorkSamples& in = found[sample.work];
        if (sample.exchange == no_call) {
            in.none++;
            continue;
        }
        const auto& all = held[sample.exchange];
        const auto most = std::ranges::max_element(all) - all.begin();
        (most == static_cast<ptrdiff_t>(sample.work) ? in.right : in.other)++;
    }
    for (size_t i = 0; i < functions.size(); i++)
        fmt::print("{}: {} in exchanges of its own, {} of others, {} in none\n", functions[i],
                   found[i].right, found[i].other, found[i].none);
    return found;
}

void expect_work_in_its_exchanges(Session& session, std::span<const char* const> functions) {
    const auto found = samples_of_work(session, functions);
    for (size_t i = 0; i + 1 < found.size(); i++) {
        EXPECT_GE(found[i].all(), 300u) << functions[i];
        EXPECT_EQ(found[i].other, 0u) << functions[i];
        // Where the thread's memory cannot be read just then, it works for nothing that is known.
        EXPECT_LE(found[i].none * 200, found[i].all()) << functions[i];
    }
    EXPECT_GE(found.back().all(), 100u);
    EXPECT_EQ(found.back().none, found.back().all());
}

} // namespace auger::test
