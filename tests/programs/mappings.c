// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads that live for one call of `handle`, beside one that changes the mappings all the time.
#include "common/truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static uint64_t handled;
static bool over;

TIMED void handle(void) {
    truth_spin_us(20);
    truth_count(&handled);
}

static void* handle_once(void* unused) {
    (void)unused;
    handle();
    return NULL;
}

static void* change_mappings(void* unused) {
    const size_t size = 64 << 20;

    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        char* const area = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        truth_expect(area != MAP_FAILED && munmap(area, size) == 0, "mappings change");
    }
    return NULL;
}

static void report(FILE* out) {
    fprintf(out, ",\"handled\":%" PRIu64, truth_read(&handled));
}

int main(int argc, char** argv) {
    const struct truth_program program = {
        .name = "mappings",
        .about = "makes a call a thread while mappings change",
        .report = report,
        .calls = 300,
    };
    pthread_t changing, one;

    truth_start(argc, argv, &program);
    pthread_create(&changing, NULL, change_mappings, NULL);
    for (uint64_t done = 0; truth_more(done); ++done) {
        pthread_create(&one, NULL, handle_once, NULL);
        pthread_join(one, NULL);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    pthread_join(changing, NULL);
    return truth_finish();
}
