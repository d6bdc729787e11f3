// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/copied_stacks.h"

#include "loader/base/read_clock.h"
#include "loader/runtimes/perl/frame_places.h"
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

// Appends the piece of a chain that begins at `at`, without its boundary. Where the next one
// begins.
size_t append_piece(std::vector<uint64_t>& to, std::span<const uint64_t> pieces, size_t at) {
    for (; at + 1 < pieces.size(); at += 2) {
        if (pieces[at] == WIRE_FRAME_PHP)
            return at + 2;
        to.insert(to.end(), pieces.begin() + at, pieces.begin() + at + 2);
    }
    return pieces.size();
}

// Puts pieces of PHP's frames behind native frames of execute_ex(). `frames`: from `first` on
// native, as is the one before.
void place_php_frames(std::vector<uint64_t>& frames, size_t first, const LiveUnwind::PhpLoop& loop,
                      std::span<const uint64_t> pieces) {
    std::vector<uint64_t> placed;
    size_t at = 0; // in pieces
    for (size_t i = first - 1; i < frames.size(); i++) {
        const bool is_next = i == 0 || frames[i] & WIRE_FRAME_EXACT;
        const uint64_t address = frames[i] & ~WIRE_FRAME_EXACT;
        placed.push_back(frames[i]);
        if (loop.holds(is_next ? address : address - 1))
            at = append_piece(placed, pieces, at);
    }
    placed.insert(placed.end(), pieces.begin() + at, pieces.end());
    frames.resize(first - 1);
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
    if (const auto pieces = words.subspan(natives);
        !pieces.empty() && (pieces[0] & WIRE_FRAME_KIND) == WIRE_FRAME_PHP)
        place_php_frames(frames_, natives, unwind_.php_loop(pid), pieces);
    else if (has_perl_frames(pieces)) // which find their places later
        frames_.insert(frames_.end(), pieces.begin(), pieces.end());
    else if (!pieces.empty())
        place_python_frames(frames_, natives, copy.sp, begins_, pieces);
    if (stop != WIRE_STOP_END)
        frames_.push_back(WIRE_STACK_CUT | stop);
    else if (natives == words.size() && unwind_.lacked_functions(pid, sample.head->event.time_ns))
        // All native frames are there, but nobody knows what they ran.
        frames_.push_back(WIRE_STACK_CUT | WIRE_STOP_PENDING);
    sample.user_frames = frames_;
    return true;
}

} // namespace auger
