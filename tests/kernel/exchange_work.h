// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of a server that has a function of its own for each kind of request: whether they are in
// the exchanges for which it worked.
#pragma once

#include "loader/base/ids.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <cstdint>
#include <span>
#include <vector>

namespace auger::test {

// Makes exchanges a span with this id, and splits samples by whether one took longer than
// `slow_ns`.
void split_by_exchanges(Session& session, ProbeId id, const ExchangeDefinition& exchanges = {},
                        uint64_t slow_ns = 10'000'000);

// Has the program do its work while it is sampled at 1,999 Hz, from when its unwind tables are
// there, to its end; its account. Names are known then.
nlohmann::json sample_whole_work(Session& session, Program& program, bool wall = false);

// Of samples in a function: in an exchange of its own, in one that has others', in none.
struct WorkSamples {
    uint64_t right = 0, other = 0, none = 0;
    uint64_t all() const { return right + other + none; }
};

// Those of the functions but the last one are in their exchanges, those of the last one in none.
void expect_work_in_its_exchanges(Session& session, std::span<const char* const> functions);

// For each of the functions. An exchange is of the function that has the most samples in it.
std::vector<WorkSamples> samples_of_work(Session& session, std::span<const char* const> functions);

} // namespace auger::test
