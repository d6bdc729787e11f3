// SPDX-License-Identifier: GPL-3.0-or-later
// A server that knows how long each of its exchanges took, sampled while it answers: what is
// counted of these, and the classes of the samples in its functions.
#pragma once

#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace auger::test {

class ExchangeTest : public KernelTest {
  protected:
    void SetUp() override;
};

// As many, and as long in all, as the program says.
void expect_served(const CallStatistics& exchanges, const nlohmann::json& truth);

class SampledServer {
  public:
    // At 997 Hz until it has answered all, and names are known; with `wall` waits, too. Exchanges
    // that take longer than `slow_ns` are slow.
    SampledServer(const std::string& program, std::vector<std::string> arguments,
                  const ExchangeDefinition& definition, uint64_t slow_ns, bool wall = false);
    // Lets it end.
    ~SampledServer();

    const nlohmann::json& truth() const { return truth_; }
    CallStatistics exchanges() { return session_.model().probe_statistics(probe_); }
    // How many samples there are in the function by class, and in "all".
    std::map<std::string, double> classes_of(const std::string& function);

  private:
    std::string account();

    Program program_;
    Session session_;
    const ProbeId probe_{100};
    nlohmann::json truth_;
};

} // namespace auger::test
