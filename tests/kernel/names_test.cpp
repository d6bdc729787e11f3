// SPDX-License-Identifier: GPL-3.0-or-later
// Names of locations, as they come while sampling goes on.
#include "loader/kernel/clock.h"
#include "loader/kernel/live_names.h"
#include "tests/support/kernel_test.h"
#include "views/model/model.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace auger::test {
namespace {

class Names : public KernelTest {};

// As in deep code, of which every look shows another part.
TEST_F(Names, ComeThoughNewLocationsKeepComing) {
    Model model;
    LiveNames names(model, {});
    uint64_t address = reinterpret_cast<uint64_t>(&std::malloc);
    const auto next_location = [&] {
        address++;
        const StackId stack = names.stack(getpid(), clock_ns(), {}, {&address, 1}, false);
        return model.symbols().stack(stack).front();
    };
    const auto has_name = [&](LocationId location) {
        const FunctionId function = model.symbols().frames(location).back().function;
        return model.symbols().name(function).find("+0x") == std::string_view::npos;
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    // The second one waits when what was there at first has been delivered.
    for (int i = 0; i < 2; i++) {
        const LocationId location = next_location();
        while (!has_name(location)) {
            ASSERT_LT(std::chrono::steady_clock::now(), end);
            next_location();
            names.deliver(TimeSlice(clock_ns, std::chrono::milliseconds(4)));
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

} // namespace
} // namespace auger::test
