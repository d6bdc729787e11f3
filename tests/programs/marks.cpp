// SPDX-License-Identifier: GPL-3.0-or-later
//
// A shop that says by auger.h what it works for. A checkout begins on the main thread, is handed
// over to a clerk, parked while it waits, and ended by a library written in C; every twentieth is
// difficult. A step ends however it is left, by exceptions too. Conversions are of a template in
// two sources. The program counts all of them, and times checkouts itself: `inside` from behind the
// mark of the beginning to before that of the end, `around` with both.
#include "marks.h"

#include <cinttypes>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

extern "C" TIMED void think() {
    truth_spin_us(20);
}
extern "C" TIMED void think_hard() {
    truth_spin_us(1000);
}

namespace {

constexpr uint64_t clerks = 2;

AUGER_SPAN_TYPE(Handing, handing);

struct Order {
    uint64_t id, before_ns, opened_ns;
    Handing handing; // the same again, as an object that goes from thread to thread
};

uint64_t checkouts, difficult, steps, thrown, inside_ns, around_ns, longest_around_ns;
std::mutex lock;
std::condition_variable more;
std::deque<Order> waiting;
bool closing;

bool is_difficult(uint64_t id) {
    return id % 20 == 19;
}

TIMED void take_step(uint64_t id) {
    AUGER_SPAN(step, id);
    truth_count(&steps);
    if (is_difficult(id))
        think_hard(); // BRANCH difficult
    else
        think();
    if (id % 7 == 0)
        throw std::runtime_error("refused");
}

void serve(Order order) {
    AUGER_SPAN_RESUME(checkout, order.id);
    order.handing.resume();
    try {
        take_step(order.id);
    } catch (const std::exception&) {
        truth_count(&thrown);
    }
    const uint64_t inside = truth_now() - order.opened_ns;
    order.handing.end();
    ship(order.id);
    const uint64_t around = truth_now() - order.before_ns;
    std::lock_guard<std::mutex> held(lock);
    checkouts++;
    difficult += is_difficult(order.id);
    inside_ns += inside;
    around_ns += around;
    if (around > longest_around_ns)
        longest_around_ns = around;
}

void clerk() {
    for (;;) {
        std::unique_lock<std::mutex> held(lock);
        more.wait(held, [] { return closing || !waiting.empty(); });
        if (waiting.empty())
            return;
        Order order = std::move(waiting.front());
        waiting.pop_front();
        held.unlock();
        serve(std::move(order));
    }
}

void report(FILE* out) {
    std::lock_guard<std::mutex> held(lock);
    fprintf(out,
            ",\"checkouts\":%" PRIu64 ",\"difficult\":%" PRIu64 ",\"steps\":%" PRIu64
            ",\"thrown\":%" PRIu64 ",\"conversions\":%" PRIu64 ",\"touches\":%" PRIu64
            ",\"negatives\":%" PRIu64 ",\"evaluations\":%" PRIu64 ",\"inside_ns\":%" PRIu64
            ",\"around_ns\":%" PRIu64 ",\"longest_around_ns\":%" PRIu64,
            checkouts, difficult, truth_read(&steps), truth_read(&thrown), truth_read(&conversions),
            truth_read(&touches), truth_read(&negatives), truth_read(&evaluations), inside_ns,
            around_ns, longest_around_ns);
}

} // namespace

uint64_t touches, evaluations, negatives, conversions;

int main(int argc, char** argv) {
    truth_program program{};
    program.name = "marks";
    program.about = "a shop that says what it works for";
    program.report = report;
    program.calls = 400;
    program.pause_us = 200;
    truth_start(argc, argv, &program);
    std::thread threads[clerks];
    for (std::thread& thread : threads)
        thread = std::thread(clerk);
    for (uint64_t id = 0; truth_more(id); ++id) {
        const uint64_t before = truth_now();
        AUGER_SPAN_BEGIN(checkout, id);
        Order order{id, before, truth_now(), Handing(id)};
        convert(id);
        convert_elsewhere(id);
        order.handing.park();
        AUGER_SPAN_PARK(checkout, id);
        std::lock_guard<std::mutex> held(lock);
        waiting.push_back(std::move(order));
        more.notify_one();
    }
    {
        std::lock_guard<std::mutex> held(lock);
        closing = true;
        more.notify_all();
    }
    for (std::thread& thread : threads)
        thread.join();
    return truth_finish();
}
