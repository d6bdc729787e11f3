// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel at work for auger's own probes is shown as such, counted, and no part of a difference.
#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/model/diff.h"
#include "views/model/stack_completeness.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

using Names = std::vector<std::string>;

class ProbeHandling : public testing::Test {
  protected:
    // As shown, root first; both ways by which views look at stacks agree.
    Names shown(const Names& frames) {
        const StackId stack = stream.stack(frames);
        std::vector<FunctionId> path;
        expand_stack(model.symbols(), stack, path);
        Names names, by_visit;
        for (const FunctionId function : path)
            names.emplace_back(model.symbols().name(function));
        model.symbols().for_each_frame(model.symbols().stack(stack), [&](size_t,
                                                                         const FrameEntry& frame) {
            by_visit.insert(by_visit.begin(), std::string(model.symbols().name(frame.function)));
        });
        EXPECT_EQ(names, by_visit);
        return names;
    }

    Model model;
    SyntheticStream stream{model};
};

TEST_F(ProbeHandling, HasAFrameAroundIt) {
    EXPECT_EQ(shown({"main", "handle", "k:asm_exc_int3", "k:irqentry_exit_to_user_mode"}),
              (Names{"main", "handle", "[probe]", "asm_exc_int3", "irqentry_exit_to_user_mode"}));
    EXPECT_EQ(shown({"main", "k:asm_exc_debug", "k:exc_debug_user"}),
              (Names{"main", "[probe]", "asm_exc_debug", "exc_debug_user"}));
    EXPECT_EQ(shown({"main", "k:entry_SYSCALL_64_after_hwframe", "k:do_syscall_64",
                     "k:__do_sys_uretprobe", "k:uprobe_handle_trampoline"}),
              (Names{"main", "[probe]", "entry_SYSCALL_64_after_hwframe", "do_syscall_64",
                     "__do_sys_uretprobe", "uprobe_handle_trampoline"}));
}

// What only looks like it: other exceptions, breakpoints of the kernel's own, the scheduler and
// signals on the way back, interrupts that came meanwhile, the program's own function of that name.
TEST_F(ProbeHandling, IsNothingElse) {
    shown({"main", "k:asm_exc_int3"}); // from now on there is such a frame
    for (const Names& frames :
         {Names{"main", "k:asm_exc_page_fault", "k:irqentry_exit_to_user_mode"},
          Names{"main", "k:entry_SYSCALL_64_after_hwframe", "k:do_syscall_64", "k:ksys_read",
                "k:vfs_read", "k:asm_exc_int3", "k:kprobe_int3_handler"},
          Names{"main", "k:asm_exc_debug", "k:irqentry_exit_to_user_mode", "k:schedule"},
          Names{"main", "k:asm_exc_int3", "k:irqentry_exit_to_user_mode",
                "k:arch_do_signal_or_restart", "k:get_signal"},
          Names{"main", "k:asm_exc_debug", "k:asm_sysvec_apic_timer_interrupt",
                "k:update_process_times"},
          Names{"main", "asm_exc_int3", "exc_int3"}, Names{"main", "k:do_syscall_64"}}) {
        Names expected;
        for (const std::string& frame : frames)
            expected.push_back(frame.starts_with("k:") ? frame.substr(2) : frame);
        EXPECT_EQ(shown(frames), expected);
    }
}

TEST_F(ProbeHandling, IsCounted) {
    const StackId probe = stream.stack({"main", "k:asm_exc_int3"}), work = stream.stack({"main"});
    for (int i = 0; i < 7; i++)
        stream.sample(uint64_t(i + 1) * ms, 1, i < 3 ? probe : work);
    stream.sample(8 * ms, 1, probe, {}, ms, SampleKind::blocked); // stopped there: a wait
    EXPECT_EQ(stack_completeness(model).probe_handling, 3u);
}

// Slow calls call the timed function ten times as often, which makes its probes the largest
// difference between them and fast ones by far, and none of the program's.
TEST_F(ProbeHandling, IsLeftOutOfDifferences) {
    SpecId handle = stream.probe(1, "handle");
    stream.split(1, stream.fixed(5 * ms));
    const StackId probe = stream.stack({"handle", "inner", "k:asm_exc_debug", "k:exc_debug_user"}),
                  work = stream.stack({"handle", "work"});
    std::vector<uint64_t> durations;
    for (uint64_t i = 1; i <= 200; i++) {
        const bool slow = i % 10 == 0;
        CallKey call = stream.call(handle, i * 100 * ms);
        for (int k = 0; k < (slow ? 50 : 5); k++)
            stream.sample(i * 100 * ms + 1, 1, probe, {call}, ms);
        for (int k = 0; k < (slow ? 6 : 1); k++)
            stream.sample(i * 100 * ms + 2, 1, work, {call}, ms);
        durations.push_back((slow ? 60 : 3) * ms);
        stream.end(1, call, durations.back());
    }
    stream.stats(ms, handle, durations);
    const Result<Diff> diff = diff_classes(model, {}, CallClass::slow, CallClass::fast);
    ASSERT_TRUE(diff);
    EXPECT_EQ(diff->probe_handling.samples, 20 * 50 + 180 * 5);
    EXPECT_EQ(diff->probe_handling.weight_ns, (20 * 50 + 180 * 5) * 1e6);
    Names names;
    for (const FunctionDiff& f : diff->functions)
        names.emplace_back(model.symbols().name(f.function));
    EXPECT_EQ(names, (Names{"work", "handle"}));
    EXPECT_NEAR(diff->functions[0].difference_ns, 5e6, 1);
}

} // namespace
} // namespace auger
