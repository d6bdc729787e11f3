// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/copied_stacks.h"

#include "loader/base/read_clock.h"
#include "loader/unwind/stack_walk.h"

namespace auger {

namespace {

// How long records wait for one table. Large ones take longer, and what is shown should not stand
// still for them. Nor for many that take long one after the other, as of files that are others at
// every look: so much of each second.
constexpr uint64_t patience_ns = 250 * millisecond_ns;

} // namespace

bool CopiedStacks::complete(WireSampleView& sample, uint64_t now_ns) {
    if (!sample.copy || sample.user_frames.size() < 2)
        return true;
    impatient_ = impatient_ && !unwind_.settled();
    const wire_stack_copy& copy = *sample.copy;
    // Behind the last frame stands why the walk ended.
    frames_.assign(sample.user_frames.begin(), sample.user_frames.end() - 1);
    const uint64_t last = frames_.back();
    const StackFrame frame{last & ~WIRE_FRAME_EXACT,
                           copy.sp,
                           copy.bp,
                           copy.bx,
                           copy.bx_state,
                           frames_.size() == 1 || (last & WIRE_FRAME_EXACT) != 0};
    const auto mappings = unwind_.mappings(static_cast<pid_t>(sample.head->event.pid),
                                           sample.head->event.time_ns, now_ns);
    const auto find = [&](uint64_t code) { return unwind_.find_rule(mappings, code); };
    const wire_unwind_stop stop =
        walk_copied_stack(frame, {copy.start, sample.copied}, find, WIRE_MAX_FRAMES, frames_);
    if (stop == WIRE_STOP_PENDING && !impatient_) {
        if (!waiting_since_ns_)
            waiting_since_ns_ = now_ns;
        if (now_ns - second_begin_ns_ >= second_ns) {
            second_begin_ns_ = waiting_since_ns_ = now_ns;
            waited_ns_ = 0;
        }
        if (waited_ns_ + now_ns - waiting_since_ns_ < patience_ns)
            return false;
        impatient_ = waited_ns_ == 0;
    }
    if (waiting_since_ns_)
        waited_ns_ += now_ns - waiting_since_ns_;
    waiting_since_ns_ = 0;
    if (stop != WIRE_STOP_END)
        frames_.push_back(WIRE_STACK_CUT | stop);
    sample.user_frames = frames_;
    return true;
}

} // namespace auger
