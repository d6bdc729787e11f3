// SPDX-License-Identifier: GPL-3.0-or-later
// A store that samples are put into as they come from a backend, of which each has a stack.
#pragma once

#include "loader/recording/definition_log.h"
#include "loader/stream/interner.h"
#include "loader/stream/tee.h"
#include "repl/session/store_limit.h"
#include "views/model/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace auger {

class FilledStore : public testing::Test {
  protected:
    // Samples whose stacks are `depth` deep and, if `unique`, never the same.
    void take(size_t samples, size_t depth, bool unique) {
        std::vector<LocationId> stack(depth);
        for (size_t i = 0; i < samples; i++) {
            interner.next_sample();
            for (LocationId& location : stack)
                location =
                    interner.location({ModuleId{0}, unique ? random() % 2'000 : i % 5, true});
            SampleEvent sample;
            sample.time_ns = ++time_ns;
            sample.weight_ns = 1;
            sample.thread = interner.thread(1, 1, "service");
            sample.stack = interner.stack(stack);
            tee.on_sample(sample);
            const size_t stream_bytes = log.memory_bytes() + interner.memory_bytes();
            if (auto news = limit.keep(model, [&] { return stream_bytes; }))
                said.push_back(*news);
            most = std::max(most, model.memory_bytes() + model.stacks_bytes() + stream_bytes);
        }
    }

    static constexpr size_t bytes = 32 << 20;
    Model model{200'000};
    DefinitionLog log;
    Tee tee;
    Interner interner{tee, [this] { return Retention{model.samples().capacity(), 100}; }};
    StoreLimit limit{bytes};
    std::mt19937 random{3};
    std::vector<std::string> said;
    size_t most = 0;
    uint64_t time_ns = 0;

    void SetUp() override {
        tee.add(model);
        tee.add(log);
        tee.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", ""});
    }
};

} // namespace auger
