// SPDX-License-Identifier: GPL-3.0-or-later
//
// A shop with USDT probes: an order begins and ends, ticks come from two places, values lie
// wherever a compiler may leave them. The program knows how often it is where, with which values,
// and times its orders from behind the first probe to before the last one (`inside`) and with both
// (`around`). It also counts at how many orders it saw that somebody listens.
#include "common/truth.h"
#include "usdt_probe.h"

#include <inttypes.h>

enum { kinds = 5, large_amount = 700 };

void ship(uint64_t id);
unsigned shipped_listeners(void);

USDT_SEMAPHORE(order_start_semaphore);
USDT_SEMAPHORE(order_done_semaphore);

static uint64_t orders, large, failed, ticks, measured, positive, heard;
static uint64_t inside_ns, around_ns;
// Read by a probe where it lies.
static volatile int32_t shop_level __attribute__((used));

static void spin(uint64_t rounds) {
    for (volatile uint64_t i = 0; i < rounds; ++i)
        ;
}

static inline void tick(void) {
    __asm__ volatile(USDT_PROBE("nop", "shop", "tick", "0", ""));
    truth_count(&ticks);
}

// A number of each size, sign and place; `volatile`: in memory.
TIMED void measure(uint64_t id, int32_t balance, const char* text) {
    volatile uint16_t on_stack = (uint16_t)(id * 3);
    const uint8_t low = (uint8_t)id;
    shop_level = -balance;
    __asm__ volatile(USDT_PROBE("nopl (%%rax)", "shop", "measure", "0",
                                "8@%0 -4@%k1 1@%b2 2@%3 -4@%4 -4@%5 8@%6 8@(%%rsp,%0,8) 8f@%%xmm0")
                     :
                     : "r"(id), "r"(balance), "q"(low), "m"(on_stack), "m"(shop_level), "i"(-17),
                       "r"(text));
    truth_count(&measured);
    if (balance > 0)
        truth_count(&positive);
}

// What a probe must not be put on: the kernel makes a call of this nop.
TIMED void rest(void) {
    __asm__ volatile(USDT_PROBE(".byte 0x0f,0x1f,0x44,0x00,0x00", "shop", "rest", "0", ""));
    // ... and what is no nop.
    __asm__ volatile(USDT_PROBE("xorl %%eax, %%eax", "shop", "odd", "0", "") : : : "eax");
}

TIMED void take_order(uint64_t id) {
    const int32_t amount = (int32_t)(id * 37 % 1000);
    const int32_t kind = (int32_t)(id % kinds);
    const uint64_t before = truth_now(); // ORDER
    if (order_start_semaphore)
        truth_count(&heard);
    __asm__ volatile(
        USDT_PROBE("nop", "shop", "order__start", "order_start_semaphore", "8@%0 -4@%k1 -4@%k2")
        :
        : "r"(id), "r"(amount), "r"(kind));
    const uint64_t opened = truth_now();
    spin(100 + id % 7 * 50);
    tick();
    measure(id, (int32_t)id % 2 ? amount : -amount, kind == 3 ? "special" : "ordinary");
    rest();
    const uint64_t inside = truth_now() - opened;
    __asm__ volatile(USDT_PROBE("nop", "shop", "order__done", "order_done_semaphore", "8@%0 -4@%k1")
                     :
                     : "r"(id), "r"(kind == 3));
    const uint64_t around = truth_now() - before;
    truth_count(&orders);
    large += amount >= large_amount;
    failed += kind == 3;
    inside_ns += inside;
    around_ns += around;
    ship(id);
    if (id % 10 == 0)
        tick();
}

static void report(FILE* out) {
    fprintf(out,
            ",\"orders\":%" PRIu64 ",\"large\":%" PRIu64 ",\"failed\":%" PRIu64
            ",\"ticks\":%" PRIu64 ",\"measured\":%" PRIu64 ",\"positive\":%" PRIu64
            ",\"heard\":%" PRIu64 ",\"inside_ns\":%" PRIu64 ",\"around_ns\":%" PRIu64
            ",\"start_listeners\":%u,\"done_listeners\":%u,\"shipped_listeners\":%u",
            truth_read(&orders), large, failed, truth_read(&ticks), truth_read(&measured),
            truth_read(&positive), truth_read(&heard), inside_ns, around_ns,
            (unsigned)order_start_semaphore, (unsigned)order_done_semaphore, shipped_listeners());
}

int main(int argc, char** argv) {
    const struct truth_program program = {
        .name = "usdt",
        .about = "a shop with USDT probes",
        .report = report,
        .calls = 1000,
    };
    truth_start(argc, argv, &program);
    for (uint64_t id = 1; truth_more(id - 1); ++id)
        take_order(id);
    return truth_finish();
}
