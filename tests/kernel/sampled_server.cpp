// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/sampled_server.h"

#include "loader/kernel/features.h"
#include "tests/kernel/exchange_work.h"
#include "views/model/classifier.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger::test {

void ExchangeTest::SetUp() {
    KernelTest::SetUp();
    if (!IsSkipped() && !Features::detect().socket_tracepoints)
        GTEST_SKIP() << "this kernel has no tracepoints of sockets";
}

void expect_served(const CallStatistics& exchanges, const nlohmann::json& truth) {
    EXPECT_EQ(exchanges.returns, truth["served"].get<double>())
        << exchanges.unwound << " unanswered, " << exchanges.ambiguous.early << " early, "
        << exchanges.ambiguous.unasked << " unasked";
    EXPECT_EQ(exchanges.entries, exchanges.returns);
    EXPECT_GE(exchanges.sum_ns, truth["inside_ns"].get<double>());
    EXPECT_LE(exchanges.sum_ns, truth["around_ns"].get<double>());
    EXPECT_LE(exchanges.max_ns, truth["longest_around_ns"].get<uint64_t>());
    const SpanTimes& times = exchanges.span;
    EXPECT_DOUBLE_EQ(times.attached + times.queued + times.parked, exchanges.sum_ns);
}

namespace {

std::vector<std::string> held(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--wait", "--linger"});
    return arguments;
}

} // namespace

SampledServer::SampledServer(const std::string& program, std::vector<std::string> arguments,
                             const ExchangeDefinition& definition, uint64_t slow_ns, bool wall)
    : program_(program, held(std::move(arguments))) {
    program_.wait_ready();
    session_.observe(program_.pid());
    split_by_exchanges(session_, probe_, definition, slow_ns);
    SamplingSettings sampling;
    sampling.rate_hz = 997;
    sampling.wall = wall;
    must(session_.backend().set_sampling(sampling));
    program_.go();
    truth_ = program_.account();
    EXPECT_TRUE(session_.pump_until([&] {
        return session_.calls(probe_).returns >= truth_["served"].get<uint64_t>() &&
               session_.backend().symbol_progress().pending == 0;
    })) << account();
}

SampledServer::~SampledServer() {
    program_.go();
    EXPECT_EQ(program_.wait_exit(), 0);
}

std::map<std::string, double> SampledServer::classes_of(const std::string& function) {
    const Model& model = session_.model();
    const Classifier classify(model);
    const SampleStore& samples = model.samples();
    std::map<std::string, double> classes;
    for (size_t i = 0; i < samples.size(); i++) {
        const std::vector<std::string> names = session_.stack_names(samples.stacks()[i]);
        if (std::ranges::find(names, function) == names.end())
            continue;
        classes[std::string(to_string(classify(samples.calls()[i], samples.times()[i])))]++;
        classes["all"]++;
    }
    return classes;
}

std::string SampledServer::account() {
    const CallStatistics counted = exchanges();
    const Ambiguous& ambiguous = counted.ambiguous;
    std::string account = fmt::format(
        "{} served: {} entries, {} returns, {} unwound, {} expired, {} dropped, {} open; {} early, "
        "{} unasked, {} TLS, {} HTTP/2; {} stray; {} symbols pending",
        truth_["served"].dump(), counted.entries, counted.returns, counted.unwound, counted.expired,
        counted.dropped, counted.open, ambiguous.early, ambiguous.unasked, ambiguous.tls,
        ambiguous.http2, counted.stray, session_.backend().symbol_progress().pending);
    for (const auto& [cause, count] : session_.model().ledger().lost)
        if (count > 0)
            account += fmt::format("; {} lost: {}", count, cause);
    return account;
}

} // namespace auger::test
