// SPDX-License-Identifier: GPL-3.0-or-later
// What is awaited lies on top of the stack of the frame that awaits it, or since 3.15 below that. A
// frame that gave way by a plain `yield`, as asyncio.sleep(0) does, has something else there: so
// the state of its generator is asked, or before 3.13 the instruction with which it will go on
// (RESUME), which says after what.
#include "loader/runtimes/python/coroutine_walk.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace auger {
namespace {

// _framestate of each PythonStates. A state that is greater than `running` is of one that is over.
struct States {
    int created, running;
    int first_in_await, last_in_await; // FRAME_SUSPENDED_YIELD_FROM, and locked; or any suspended
    // Which word of the stack, 1: the topmost. What is iterated over by an index has that above it.
    int awaited;
};
constexpr States states_of[] = {{-2, 0, -1, -1, 1}, {-3, 0, -1, -1, 1}, {0, 4, 2, 3, 2}};
constexpr uint8_t resumes_await = 2; // the least argument of a RESUME behind `yield from`, `await`
constexpr uint64_t instruction_bytes = 2;

// What refers to what it goes to by its first member, or second.
constexpr uint64_t member_of_wrapper = 16;

constexpr std::array<std::string_view, 3> kinds_with_frames = {"coroutine", "generator",
                                                               "async_generator"};
constexpr std::array<std::string_view, 4> wrappers = {"coroutine_wrapper", "async_generator_asend",
                                                      "async_generator_athrow", "anext_awaitable"};
constexpr std::string_view future_iterator = "_asyncio.FutureIter";

class Walk {
  public:
    explicit Walk(ObjectReader& objects)
        : objects_(objects), frames_(objects.layout().frames), awaits_(objects.layout().awaits) {}

    CoroutineWalk from(uint64_t coroutine) {
        // Wrappers lie in between.
        uint64_t at = coroutine;
        size_t steps = 0;
        while (at && steps++ < 2 * CoroutineWalk::most_frames)
            at = step(at);
        if (at)
            walk_.end = End::too_deep;
        if (objects_.failed())
            walk_.end = End::unreadable;
        return std::move(walk_);
    }

  private:
    using End = CoroutineWalk::End;

    // To what it awaits; 0: the walk has ended.
    uint64_t step(uint64_t at) {
        const std::string kind = objects_.class_of(at);
        if (std::ranges::find(kinds_with_frames, kind) != kinds_with_frames.end())
            return pass_frame(at);
        if (std::ranges::find(wrappers, kind) != wrappers.end())
            return objects_.word(at + member_of_wrapper);
        if (kind == future_iterator) {
            walk_.future = objects_.word(at + member_of_wrapper);
            return stop(walk_.future ? End::future : End::over);
        }
        walk_.awaited = kind;
        return stop(walk_.frames.empty() || kind.empty() ? End::unreadable : End::object);
    }

    uint64_t stop(End end) {
        walk_.end = end;
        return 0;
    }

    uint64_t pass_frame(uint64_t generator) {
        const auto state = objects_.number<int8_t>(generator + awaits_.generator_state);
        const uint64_t frame = generator + frames_.generator_frame;
        if (state > states_.running)
            return stop(End::over);
        if (walk_.frames.size() >= CoroutineWalk::most_frames)
            return stop(End::too_deep);
        if (!add_frame(frame))
            return stop(End::unreadable);
        if (state == states_.running)
            return stop(End::runs);
        if (state <= states_.created)
            return stop(End::begins);
        if (!is_in_await(state, frame))
            return stop(End::nothing);
        const uint64_t awaited = awaited_by(frame);
        return awaited ? awaited : stop(End::nothing);
    }

    bool is_in_await(int state, uint64_t frame) {
        if (state < states_.first_in_await || state > states_.last_in_await)
            return false;
        if (awaits_.states != python_states_suspended)
            return true;
        const uint64_t next = objects_.word(frame + frames_.frame_instruction) + instruction_bytes;
        return objects_.number<uint8_t>(next + 1) >= resumes_await;
    }

    uint64_t awaited_by(uint64_t frame) {
        uint64_t end = objects_.word(frame + awaits_.frame_stack);
        if (!awaits_.stack_is_address) {
            const auto height = objects_.number<int32_t>(frame + awaits_.frame_stack);
            if (height < states_.awaited)
                return 0;
            end = frame + awaits_.frame_locals + 8 * static_cast<uint64_t>(height);
        }
        return objects_.word(end - 8 * static_cast<uint64_t>(states_.awaited)) & ~uint64_t{7};
    }

    // False: it is none. Those of others than CPython may be called coroutines, too (Cython).
    bool add_frame(uint64_t frame) {
        const uint64_t code = objects_.word(frame + frames_.frame_code) & ~uint64_t{7};
        if (objects_.class_of(code) != "code")
            return false;
        const uint32_t cookie = wire_python_cookie(
            objects_.number<uint32_t>(code + frames_.code_line),
            objects_.word(code + frames_.code_file), objects_.word(code + frames_.code_name),
            objects_.word(code + frames_.code_lines),
            frames_.code_version ? objects_.number<uint32_t>(code + frames_.code_version) : 0);
        uint64_t offset =
            objects_.word(frame + frames_.frame_instruction) - code - frames_.code_instructions;
        if (offset > WIRE_PYTHON_MOST_OFFSET)
            offset = WIRE_PYTHON_NO_OFFSET;
        walk_.frames.push_back({code, offset << 32 | cookie});
        walk_.innermost = frame;
        return true;
    }

    ObjectReader& objects_;
    const wire_python_layout& frames_;
    const PythonAwaits& awaits_;
    const States& states_ = states_of[std::min<uint32_t>(awaits_.states, std::size(states_of) - 1)];
    CoroutineWalk walk_;
};

} // namespace

CoroutineWalk walk_coroutine(ObjectReader& objects, uint64_t coroutine) {
    return Walk(objects).from(coroutine);
}

} // namespace auger
