// SPDX-License-Identifier: GPL-3.0-or-later
//
// C++ exceptions through timed functions:
//
//     outer (catches) -> middle (has cleanup) -> rethrower (catches, rethrows)
//                                                  -> plain (no cleanup) -> thrower (throws)
//
// Every so many rounds `thrower` throws: it, `plain`, `rethrower` and `middle` are unwound, and
// only `outer` returns.
#include "common/truth.h"

#include <cinttypes>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

enum { OUTER, MIDDLE, RETHROWER, PLAIN, THROWER };
truth_function functions[] = {{"outer", 0, 0, 0},
                              {"middle", 0, 0, 0},
                              {"rethrower", 0, 0, 0},
                              {"plain", 0, 0, 0},
                              {"thrower", 0, 0, 0}};
uint64_t every = 3, threads = 2, rounds, cleanups;

struct Bad : std::runtime_error {
    explicit Bad(uint64_t round) : runtime_error("bad round"), round(round) {}
    uint64_t round;
};

// Counts the ways out of `middle`.
struct Cleanup {
    ~Cleanup() { truth_count(&cleanups); }
};

} // namespace

extern "C" {

TIMED uint64_t thrower(uint64_t round, bool bad) {
    truth_count(&functions[THROWER].entries);
    if (bad) {
        truth_count(&functions[THROWER].unwound);
        throw Bad(round);
    }
    truth_count(&functions[THROWER].returns);
    return round * 3 + 1;
}

TIMED uint64_t plain(uint64_t round, bool bad) {
    truth_count(&functions[PLAIN].entries);
    const uint64_t value = thrower(round, bad) + 1;
    truth_count(&functions[PLAIN].returns);
    return value;
}

TIMED uint64_t rethrower(uint64_t round, bool bad) {
    truth_count(&functions[RETHROWER].entries);
    uint64_t value = 0;
    try {
        value = plain(round, bad) + 1;
    } catch (const Bad&) {
        truth_count(&functions[PLAIN].unwound);
        truth_count(&functions[RETHROWER].unwound);
        throw;
    }
    truth_count(&functions[RETHROWER].returns);
    return value;
}

TIMED uint64_t middle(uint64_t round, bool bad) {
    truth_count(&functions[MIDDLE].entries);
    const Cleanup cleanup;
    const uint64_t value = rethrower(round, bad) + 1;
    truth_count(&functions[MIDDLE].returns);
    return value;
}

TIMED uint64_t outer(uint64_t round, bool bad) {
    truth_count(&functions[OUTER].entries);
    uint64_t value = 0;
    try {
        value = middle(round, bad) + 1;
    } catch (const Bad& caught) {
        truth_count(&functions[MIDDLE].unwound);
        truth_expect(caught.round == round, "outer caught another round's exception");
        value = ~round;
    }
    truth_count(&functions[OUTER].returns);
    return value;
}
}

namespace {

void run(unsigned index) {
    truth_name_thread(("throws-" + std::to_string(index)).c_str());
    for (uint64_t done = 0; truth_more(done); ++done) {
        const bool bad = every != 0 && done % every == every - 1;
        const uint64_t value = outer(done, bad);
        truth_expect(value == (bad ? ~done : done * 3 + 5), "outer returned a wrong value");
        truth_count(&rounds);
    }
}

void report(FILE* out) {
    fprintf(out, ",\"rounds\":%" PRIu64 ",\"cleanups\":%" PRIu64, truth_read(&rounds),
            truth_read(&cleanups));
}

const truth_option options[] = {
    {"every", TRUTH_NUMBER, &every, "throw in every Nth round; 0 is never"},
    {"threads", TRUTH_NUMBER, &threads, "threads"},
};
const truth_program program = {"exceptions", "throws C++ exceptions through timed functions",
                               options,      std::size(options),
                               functions,    std::size(functions),
                               report,       nullptr,
                               100,          0};

} // namespace

int main(int argc, char** argv) {
    truth_start(argc, argv, &program);
    std::vector<std::thread> running;
    for (unsigned index = 0; index < threads; ++index)
        running.emplace_back(run, index);
    for (std::thread& thread : running)
        thread.join();
    truth_expect(cleanups == functions[MIDDLE].entries, "a cleanup did not run");
    return truth_finish();
}
