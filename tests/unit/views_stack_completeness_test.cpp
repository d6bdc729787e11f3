// SPDX-License-Identifier: GPL-3.0-or-later
// Whole stacks and cut ones are counted by samples, each cut by its cause.
#include "views/model/stack_completeness.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

class Completeness : public testing::Test {
  protected:
    void location(uint32_t id, ModuleId module, const std::string& name) {
        const Location location{module, id, false};
        model.on_location(LocationId{id}, location);
        Frame frame;
        frame.function = name;
        model.on_frames(LocationId{id}, {&frame, 1});
    }
    void samples(uint32_t stack, int count) {
        for (int i = 0; i < count; i++) {
            SampleEvent sample;
            sample.time_ns = ++now;
            sample.weight_ns = 1;
            sample.stack = StackId{stack};
            sample.thread = ThreadId{0};
            model.on_sample(sample);
        }
    }

    Model model{100};
    uint64_t now = 0;
};

TEST_F(Completeness, CountsSamplesByTheOutermostFrame) {
    const ModuleId program{0}, cut{1};
    model.on_module(program, {ModuleKind::file, "/bin/program", ""});
    model.on_module(cut, {ModuleKind::cut, "[stack cut]", ""});
    model.on_thread(ThreadId{0}, {1, 1, "program"});
    location(0, program, "main");
    location(1, program, "[stack cut: a function of that name]");
    location(2, cut, "[stack cut: unreadable stack]");
    const LocationId whole[] = {LocationId{1}, LocationId{0}};
    const LocationId ends_early[] = {LocationId{0}, LocationId{2}};
    // Of a thread that was woken by another one, whose stack is cut.
    const LocationId woken[] = {LocationId{2}, LocationId{0}};
    model.on_stack(StackId{0}, whole);
    model.on_stack(StackId{1}, ends_early);
    model.on_stack(StackId{2}, woken);
    model.on_stack(StackId{3}, {});
    samples(0, 5);
    samples(1, 3);
    samples(2, 1);
    samples(3, 2);
    samples(0, 1);

    const StackCompleteness counts = stack_completeness(model);
    EXPECT_EQ(counts.whole, 7u);
    EXPECT_EQ(counts.cut,
              (std::map<std::string, uint64_t>{{"unreadable stack", 3}, {"no stack", 2}}));
    EXPECT_EQ(counts.samples(), model.samples().size());
}

} // namespace
} // namespace auger
