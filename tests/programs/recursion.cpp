// SPDX-License-Identifier: GPL-3.0-or-later
//
// A function that calls itself and sleeps at each level. A call at level L (the innermost is 1)
// sleeps L times, so no honest measurement of it is shorter than L sleeps: a profiler that pairs
// an exit with the wrong entry shows itself at once.
#include "common/truth.h"

#include <cinttypes>
#include <memory>
#include <thread>
#include <vector>

namespace {

uint64_t depth = 4, sleep_us = 1000, threads = 2, over_us = 0, rounds;

struct Level {
    uint64_t calls, min_ns, max_ns;
    uint64_t over, over_inside; // longer than --over-us, by the caller's clock and by its own
};
std::unique_ptr<Level[]> levels; // by level; index 0 is unused
truth_function functions[] = {{"descend", 0, 0, 0}};

void lower_to(uint64_t* value, uint64_t candidate) {
    uint64_t seen = truth_read(value);
    while (candidate < seen && !__atomic_compare_exchange_n(value, &seen, candidate, false,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void raise_to(uint64_t* value, uint64_t candidate) {
    uint64_t seen = truth_read(value);
    while (candidate > seen && !__atomic_compare_exchange_n(value, &seen, candidate, false,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void note(uint64_t level, uint64_t duration_ns) {
    truth_count(&levels[level].calls);
    truth_add(&levels[level].over, duration_ns > over_us * 1000);
    lower_to(&levels[level].min_ns, duration_ns);
    raise_to(&levels[level].max_ns, duration_ns);
}

} // namespace

// Returns 1 + 2 + ... + level.
extern "C" TIMED uint64_t descend(uint64_t level) {
    const uint64_t inside = truth_now();
    truth_count(&functions[0].entries);
    truth_sleep_us(sleep_us);
    uint64_t below = 0;
    if (level > 1) {
        const uint64_t start = truth_now();
        below = descend(level - 1);
        note(level - 1, truth_now() - start);
    }
    truth_count(&functions[0].returns);
    truth_add(&levels[level].over_inside, truth_now() - inside > over_us * 1000);
    return level + below;
}

namespace {

void run(unsigned index) {
    truth_name_thread(("descend-" + std::to_string(index)).c_str());
    for (uint64_t done = 0; truth_more(done); ++done) {
        const uint64_t start = truth_now();
        const uint64_t sum = descend(depth);
        note(depth, truth_now() - start);
        truth_expect(sum == depth * (depth + 1) / 2, "descend returned a wrong sum");
        truth_count(&rounds);
    }
}

void report(FILE* out) {
    fprintf(out, ",\"rounds\":%" PRIu64 ",\"depth\":%" PRIu64 ",\"sleep_ns\":%" PRIu64,
            truth_read(&rounds), depth, sleep_us * 1000);
    fprintf(out, ",\"levels\":[");
    for (uint64_t level = 1; level <= depth; ++level) {
        const Level& at = levels[level];
        const uint64_t calls = truth_read(&at.calls);
        fprintf(out,
                "%s{\"level\":%" PRIu64 ",\"calls\":%" PRIu64 ",\"min_ns\":%" PRIu64
                ",\"max_ns\":%" PRIu64 ",\"over\":%" PRIu64 ",\"over_inside\":%" PRIu64 "}",
                level > 1 ? "," : "", level, calls, calls ? truth_read(&at.min_ns) : 0,
                truth_read(&at.max_ns), truth_read(&at.over), truth_read(&at.over_inside));
    }
    fprintf(out, "]");
}

const truth_option options[] = {
    {"depth", TRUTH_NUMBER, &depth, "levels of recursion, 1 to 10000"},
    {"sleep-us", TRUTH_NUMBER, &sleep_us, "sleep at each level"},
    {"threads", TRUTH_NUMBER, &threads, "threads that descend, 1 to 64"},
    {"over-us", TRUTH_NUMBER, &over_us, "count the calls that take longer"},
};
const truth_program program = {"recursion", "recurses a known depth and sleeps at each level",
                               options,     std::size(options),
                               functions,   std::size(functions),
                               report,      nullptr,
                               100,         0};

} // namespace

int main(int argc, char** argv) {
    // Made before the options are known, because SIGUSR1 may ask for the account at any time.
    levels = std::make_unique<Level[]>(10001);
    for (uint64_t level = 0; level <= 10000; ++level)
        levels[level].min_ns = UINT64_MAX;
    truth_start(argc, argv, &program);
    if (depth < 1 || depth > 10000 || threads < 1 || threads > 64) {
        fprintf(stderr, "recursion: --depth or --threads is out of range\n");
        return 2;
    }
    std::vector<std::thread> running;
    for (unsigned index = 0; index < threads; ++index)
        running.emplace_back(run, index);
    for (std::thread& thread : running)
        thread.join();
    return truth_finish();
}
