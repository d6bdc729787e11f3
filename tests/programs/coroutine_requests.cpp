// SPDX-License-Identifier: GPL-3.0-or-later
//
// Requests that C++20 coroutines handle, 64 of them in turn on one thread: each does a step, waits
// until all the others did one, and is destroyed by its maker when it is done. Every
// twentieth thinks hard in between. The program times each of them itself: `inside` from within its
// first step to before its end, `around` from before it is made to behind its end; and the time
// within its steps.
#include "common/truth.h"

#include <algorithm>
#include <cinttypes>
#include <coroutine>
#include <deque>
#include <exception>
#include <list>

namespace {

constexpr size_t interleaved = 64;
constexpr int steps = 4;
constexpr uint64_t light_us = 20, hard_us = 1500;

uint64_t opened, closed, resumed, difficult;
uint64_t inside_ns, around_ns, worked_ns, longest_inside_ns, longest_around_ns;

TIMED void think() {
    truth_spin_us(light_us);
}

TIMED void think_hard() {
    truth_spin_us(hard_us);
}

bool is_difficult(uint64_t id) {
    return id % 20 == 19;
}

struct Times {
    uint64_t before_ns, started_ns;
};

void note(const Times& times, uint64_t ended_ns, uint64_t after_ns) {
    closed++;
    inside_ns += ended_ns - times.started_ns;
    around_ns += after_ns - times.before_ns;
    longest_inside_ns = std::max(longest_inside_ns, ended_ns - times.started_ns);
    longest_around_ns = std::max(longest_around_ns, after_ns - times.before_ns);
}

// Those whose turn comes.
std::deque<std::coroutine_handle<>> turns;

struct Turn {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const { turns.push_back(waiting); }
    void await_resume() const noexcept {}
};

struct Kept {
    struct promise_type {
        Kept get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

Kept handle_request(uint64_t id, uint64_t* started_ns) {
    *started_ns = truth_now();
    for (int step = 0; step < steps; ++step) {
        if (step)
            co_await Turn();
        if (step == 2 && is_difficult(id))
            think_hard();
        else
            think();
    }
}

bool more() {
    return truth_running() && (!truth_calls() || opened < truth_calls());
}

void resume(std::coroutine_handle<> handle) {
    const uint64_t begin = truth_now();
    resumed++;
    handle.resume();
    worked_ns += truth_now() - begin;
}

void handle_all() {
    struct Request {
        Kept made;
        Times times;
    };
    std::list<Request> open; // which stay where they are
    while (more() || !open.empty()) {
        while (more() && open.size() < interleaved) {
            difficult += is_difficult(opened);
            Request& request = open.emplace_back();
            request.times.before_ns = truth_now();
            request.made = handle_request(opened++, &request.times.started_ns);
            turns.push_back(request.made.handle);
        }
        for (size_t left = turns.size(); left; --left) {
            const auto next = turns.front();
            turns.pop_front();
            resume(next);
        }
        std::erase_if(open, [](const Request& request) {
            if (!request.made.handle.done())
                return false;
            const uint64_t end = truth_now();
            request.made.handle.destroy();
            note(request.times, end, truth_now());
            return true;
        });
    }
}

void report(FILE* out) {
    fprintf(out,
            ",\"opened\":%" PRIu64 ",\"closed\":%" PRIu64 ",\"resumed\":%" PRIu64
            ",\"difficult\":%" PRIu64 ",\"inside_ns\":%" PRIu64 ",\"around_ns\":%" PRIu64
            ",\"worked_ns\":%" PRIu64 ",\"longest_inside_ns\":%" PRIu64
            ",\"longest_around_ns\":%" PRIu64,
            opened, closed, resumed, difficult, inside_ns, around_ns, worked_ns, longest_inside_ns,
            longest_around_ns);
}

} // namespace

int main(int argc, char** argv) {
    truth_program program{};
    program.name = "coroutine_requests";
    program.about = "requests that coroutines handle in turn";
    program.report = report;
    program.calls = 1000;
    truth_start(argc, argv, &program);
    handle_all();
    return truth_finish();
}
