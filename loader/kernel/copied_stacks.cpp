// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/copied_stacks.h"

#include "loader/base/read_clock.h"
#include "loader/unwind/chain_pieces.h"
#include "loader/unwind/stack_walk.h"

namespace auger {

namespace {

// How long records wait for one table. Large ones take longer, and what is shown should not stand
// still for them. Nor for many that take long one after the other, as of files that are others at
// every look: so much of each second.
constexpr uint64_t patience_ns = 250 * millisecond_ns;

// Of a stack's words those up to its last native frame; behind them are frames of runtimes that
// have no place yet.
size_t words_to_last_native(std::span<const uint64_t> words) {
    size_t end = 0;
    for (size_t i = 0; i < words.size(); i++) {
        if (words[i] & WIRE_FRAME_RUNTIME)
            i++;
        else
            end = i + 1;
    }
    return end;
}

// Puts pieces of PHP's frames behind native frames of execute_ex(). `frames`: from `first` on
// native, as is the one before.
void place_php_frames(std::vector<uint64_t>& frames, size_t first, const LoopCode& loop,
                      std::span<const uint64_t> pieces) {
    const size_t last = first - 1;
    const NativeFrames natives{std::span(frames).subspan(last),
                               last == 0 || (frames[last] & WIRE_FRAME_EXACT) != 0, false};
    const auto placed =
        place_pieces(natives, pieces, [&](uint64_t code) { return loop.holds(code); });
    frames.resize(last);
    frames.insert(frames.end(), placed.begin(), placed.end());
}

// Puts pieces of Python's frames, each followed by its boundary, behind the native frames that
// hold those. `frames`: from `first` on native; the one before begins at `begin`, they at `begins`.
void place_python_frames(std::vector<uint64_t>& frames, size_t first, uint64_t begin,
                         std::span<const uint64_t> begins, std::span<const uint64_t> pieces) {
    std::vector<uint64_t> placed;
    size_t at = 0; // in pieces
    for (size_t i = 0; i < begins.size(); i++) {
        size_t end = at;
        while (end + 1 < pieces.size() && pieces[end] != WIRE_FRAME_PYTHON)
            end += 2;
        const uint64_t from = i ? begins[i - 1] : begin;
        if (end + 1 < pieces.size() && pieces[end + 1] >= from && pieces[end + 1] < begins[i]) {
            placed.insert(placed.end(), pieces.begin() + at, pieces.begin() + end);
            at = end + 2;
        }
        placed.push_back(frames[first + i]);
    }
    placed.insert(placed.end(), pieces.begin() + at, pieces.end());
    frames.resize(first);
    frames.insert(frames.end(), placed.begin(), placed.end());
}

} // namespace

bool CopiedStacks::complete(WireSampleView& sample, uint64_t now_ns) {
    if (!sample.copy || sample.user_frames.size() < 2)
        return true;
    impatient_ = impatient_ && !unwind_.settled();
    const wire_stack_copy& copy = *sample.copy;
    // Behind the last frame stands why the walk ended.
    const auto words = sample.user_frames.first(sample.user_frames.size() - 1);
    const size_t natives = words_to_last_native(words);
    if (natives == 0)
        return true;
    frames_.assign(words.begin(), words.begin() + natives);
    begins_.clear();
    const uint64_t last = frames_.back();
    const StackFrame frame{last & ~WIRE_FRAME_EXACT,
                           copy.sp,
                           copy.bp,
                           copy.bx,
                           copy.bx_state,
                           frames_.size() == 1 || (last & WIRE_FRAME_EXACT) != 0};
    const auto pid = static_cast<pid_t>(sample.head->event.pid);
    const auto mappings = unwind_.mappings(pid, sample.head->event.time_ns, now_ns);
    const auto find = [&](uint64_t code) { return unwind_.find_rule(mappings, code); };
    const wire_unwind_stop stop = walk_copied_stack(frame, {copy.start, sample.copied}, find,
                                                    WIRE_STACK_WORDS - 1, frames_, &begins_);
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
    if (const auto pieces = words.subspan(natives); !pieces.empty()) {
        const uint64_t kind = pieces[0] & WIRE_FRAME_KIND;
        if (kind == WIRE_FRAME_PHP)
            place_php_frames(frames_, natives, unwind_.php_loop(pid), pieces);
        else if (kind == WIRE_FRAME_PYTHON)
            place_python_frames(frames_, natives, copy.sp, begins_, pieces);
        else // of Ruby's and Perl's, which are placed where the whole stack is at hand
            frames_.insert(frames_.end(), pieces.begin(), pieces.end());
    }
    if (stop != WIRE_STOP_END)
        frames_.push_back(WIRE_STACK_CUT | stop);
    else if (copy.chain_stop)
        frames_.push_back(WIRE_STACK_CUT | copy.chain_stop);
    else if (natives == words.size() && unwind_.lacked_functions(pid, sample.head->event.time_ns))
        // All native frames are there, but nobody knows what they ran.
        frames_.push_back(WIRE_STACK_CUT | WIRE_STOP_PENDING);
    sample.user_frames = frames_;
    return true;
}

} // namespace auger
