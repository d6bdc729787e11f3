// SPDX-License-Identifier: GPL-3.0-or-later
// Names of locations, as they come while sampling goes on.
#include "loader/kernel/clock.h"
#include "loader/kernel/live_names.h"
#include "tests/kernel/stream_log.h"
#include "tests/support/kernel_test.h"
#include "views/model/model.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace auger::test {
namespace {

class Names : public KernelTest {};

// As in deep code, of which every look shows another part.
TEST_F(Names, ComeThoughNewLocationsKeepComing) {
    Model model;
    LiveNames names(model);
    uint64_t address = reinterpret_cast<uint64_t>(&std::malloc);
    std::vector<LocationId> locations;
    const auto look_once_more = [&] {
        address++;
        const StackId stack = names.stack(getpid(), clock_ns(), {}, {&address, 1}, false);
        locations.push_back(model.symbols().stack(stack).front());
        names.deliver(TimeSlice(clock_ns, std::chrono::milliseconds(4)));
    };
    const auto has_name = [&](LocationId location) {
        const FunctionId function = model.symbols().frames(location).back().function;
        return model.symbols().name(function).find("+0x") == std::string_view::npos;
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    const auto have_names = [&](size_t count) {
        return std::all_of(locations.begin(), locations.begin() + static_cast<long>(count),
                           has_name);
    };
    // Those too that came when the first had been delivered.
    for (const size_t count : {1, 101}) {
        while (locations.size() < count || !have_names(count)) {
            ASSERT_LT(std::chrono::steady_clock::now(), end);
            look_once_more();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

// Whoever reads the stream refuses a location of a module that has not been told: of a thread that
// an interrupt wakes the first one may be that, and was (recordings could not be replayed).
TEST_F(Names, OfWhatIsNoFunctionComeBehindTheirModules) {
    struct Modules final : StreamLog {
        size_t told = 0;
        std::vector<ModuleId> early;
        void on_module(ModuleId, const ModuleInfo&) override { told++; }
        void on_location(LocationId, const Location& location) override {
            if (location.module.index() >= told)
                early.push_back(location.module);
        }
    } modules;
    LiveNames names(modules);
    const LiveNames::Waker interrupt;
    names.waiting_stack(getpid(), clock_ns(), LiveNames::no_syscall, {}, interrupt);
    EXPECT_GT(modules.told, 0u);
    EXPECT_TRUE(modules.early.empty());
}

} // namespace
} // namespace auger::test
