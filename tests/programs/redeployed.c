// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two programs from one source, `redeployed_old` and `redeployed_new` (with -DNEW_VERSION), for
// tests that copy one over the other. Both have the same functions, whose results the compiler
// knows, but at other places in the file and with other instructions: what is probed where the
// other one has its functions computes wrong values, or ends.
#include "common/truth.h"

#include <inttypes.h>

#ifdef NEW_VERSION
#define FACTOR UINT64_C(2862933555777941757)
#define MIX(value, n) ((((value) ^ (value) >> 9) * FACTOR + (n)) ^ FACTOR >> (n))
#else
#define FACTOR UINT64_C(6364136223846793005)
#define MIX(value, n) ((value)*FACTOR + (n)*UINT64_C(1442695040888963407))
#endif

static uint64_t rounds, calls;

// Moves all that follows a little, so that functions begin within those of the other version.
#ifdef NEW_VERSION
__asm__(".text\n.skip 21, 0x90\n");
#endif

#define STEP(n)                                                                                    \
    TIMED __attribute__((aligned(1))) uint64_t step_##n(uint64_t value) {                          \
        uint64_t mixed = MIX(value, n);                                                            \
        for (uint64_t i = 0; i < value % 3; ++i)                                                   \
            mixed = mixed * FACTOR + i;                                                            \
        return mixed;                                                                              \
    }
STEP(1)
STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(6)

// What step_N has to return for a multiple of 3.
#define EXPECT(n)                                                                                  \
    truth_expect(step_##n(UINT64_C(3) << n) == MIX(UINT64_C(3) << n, UINT64_C(n)),                 \
                 "step_" #n " returned a wrong value")

static void one_round(void) {
    EXPECT(1);
    EXPECT(2);
    EXPECT(3);
    EXPECT(4);
    EXPECT(5);
    EXPECT(6);
    truth_add(&calls, 6);
}

static void report(FILE* out) {
    fprintf(out, ",\"calls\":%" PRIu64, truth_read(&calls));
}

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "redeployed",
                                          .about = "computes values that are known",
                                          .report = report,
                                          .calls = 50};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        one_round();
        truth_count(&rounds);
    }
    return truth_finish();
}
