// SPDX-License-Identifier: GPL-3.0-or-later
//
// Requests that belong to traces: each thread says what it works for as OTEP 4947 has it, and hands
// the same to `handle`, so that whoever observes a call can compare. Every fourth request belongs
// to none. `--flags`: the thread's record stays where it is, and says itself whether it is valid.
// `--hostile`: what the specification forbids. `--share`: one thread writes a record that all
// others use. `--children N`: processes that are forked, which do the same. `--library FILE`: that
// has the variable, loaded now. `--publish`: there is a process context, too (OTEP 4719).
#define _GNU_SOURCE
#include "trace_context.h"

#include "common/truth.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_threads = 16 };

// What the call belongs to: of a trace id the upper and the lower half; 0: to none.
void handle(uint64_t high, uint64_t low, uint64_t span, uint64_t kind);
// The same for a record that may be anything: `kind` says what.
void handle_hostile(uint64_t kind);
void handle_shared(uint64_t number);

static uint64_t threads = 4, children;
static bool flags, hostile, share, publish, load_late;
static const char* library = "";
static uint64_t handled, traced, child_calls, hostile_calls, shared_calls;
static void (*attach)(struct context_record* record);

// Long enough to have somewhere to begin and to end.
static inline void work_a_little(void) {
    for (volatile int i = 0; i < 20; ++i)
        ;
}

TIMED void handle(uint64_t high, uint64_t low, uint64_t span, uint64_t kind) {
    __asm__ volatile("" : : "r"(high), "r"(low), "r"(span), "r"(kind) : "memory");
    work_a_little();
}
TIMED void handle_hostile(uint64_t kind) {
    __asm__ volatile("" : : "r"(kind) : "memory");
    work_a_little();
}
TIMED void handle_shared(uint64_t number) {
    __asm__ volatile("" : : "r"(number) : "memory");
    work_a_little();
}

static void put(uint8_t* bytes, uint64_t number) {
    for (int i = 0; i < 8; ++i)
        bytes[i] = (uint8_t)(number >> (56 - 8 * i));
}

// Different ones for each request, with all digits.
static uint64_t scramble(uint64_t number) {
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return (number ^ number >> 31) | 1;
}

static void fill(struct context_record* record, uint64_t high, uint64_t low, uint64_t span) {
    put(record->trace_id, high);
    put(record->trace_id + 8, low);
    put(record->span_id, span);
    record->trace_flags = 1;
    // A path, by the first name that the process has for attributes.
    record->attributes[0] = 0;
    record->attributes[1] = 5;
    memcpy(record->attributes + 2, "/cart", 5);
    record->attributes_size = 7;
}

// A record that is new to whoever observes the thread.
static void begin_request(struct context_record* record, uint64_t high, uint64_t low,
                          uint64_t span) {
    volatile uint8_t* valid = &record->valid;
    if (flags) {
        *valid = 0;
        atomic_signal_fence(memory_order_seq_cst);
        fill(record, high, low, span);
        atomic_signal_fence(memory_order_seq_cst);
        *valid = 1;
        return;
    }
    attach(NULL);
    fill(record, high, low, span);
    *valid = 1;
    attach(record);
}

static void end_request(struct context_record* record) {
    if (flags)
        *(volatile uint8_t*)&record->valid = 0;
    else
        attach(NULL);
}

static void request(struct context_record* record, uint64_t number) {
    if (number % 4 == 3) {
        handle(0, 0, 0, number);
    } else {
        const uint64_t high = scramble(3 * number), low = scramble(3 * number + 1),
                       span = scramble(3 * number + 2);
        begin_request(record, high, low, span);
        handle(high, low, span, number);
        end_request(record);
        truth_count(&traced);
    }
    truth_count(&handled);
}

// A page with nothing behind it.
static uint8_t* lonely_page(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t* pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    truth_expect(pages != MAP_FAILED && munmap(pages + page, page) == 0, "a page by itself");
    return pages + page;
}

enum { hostile_kinds = 10 };

// `good` is a whole record; `edge` the end of memory.
static void hostile_request(struct context_record* good, uint8_t* edge, uint64_t kind) {
    struct context_record bad = *good;
    struct context_record* record = &bad;
    switch (kind) {
    case 0: // as it should be, with attributes that go beyond all memory
        bad.attributes_size = UINT16_MAX;
        break;
    case 1: // ... that ends where memory does, without attributes
        record = (struct context_record*)(edge - 28);
        memcpy(record, good, 28);
        record->attributes_size = 0;
        break;
    case 2: // to nowhere
        record = (struct context_record*)16;
        break;
    case 3: // ... into the kernel
        record = (struct context_record*)0xffff888000000000u;
        break;
    case 4: // not all of it is there
        record = (struct context_record*)(edge - 26);
        memcpy(record, good, 26);
        break;
    case 5:
        bad.valid = 2;
        break;
    case 6:
        bad.valid = 0;
        break;
    case 7: // one id without the other
        memset(bad.trace_id, 0, sizeof bad.trace_id);
        break;
    case 8:
        memset(bad.span_id, 0, sizeof bad.span_id);
        break;
    default: // all of it
        memset(&bad, 0xff, sizeof bad);
    }
    attach(record);
    handle_hostile(kind);
    attach(NULL);
    truth_count(&hostile_calls);
}

static void* work(void* argument) {
    const uint64_t self = (uint64_t)(uintptr_t)argument;
    struct context_record record = {0};
    uint8_t* edge = hostile ? lonely_page() : NULL;
    truth_name_thread("worker");
    if (flags)
        attach(&record);
    for (uint64_t round = 0; truth_more(round); ++round) {
        const uint64_t number = round * threads + self;
        request(&record, number);
        if (!hostile)
            continue;
        fill(&record, scramble(1), scramble(2), scramble(3));
        record.valid = 1;
        hostile_request(&record, edge, number % hostile_kinds);
    }
    return NULL;
}

// Between two traces, by the protocol for records that stay where they are.
static struct context_record shared_record;
static bool shared_is_over;

static void* write_shared(void* unused) {
    (void)unused;
    truth_name_thread("writer");
    for (uint64_t turn = 0; !__atomic_load_n(&shared_is_over, __ATOMIC_RELAXED); ++turn) {
        __atomic_store_n(&shared_record.valid, 0, __ATOMIC_SEQ_CST);
        fill(&shared_record, turn % 2 ? 0x1111111111111111u : 0x2222222222222222u,
             turn % 2 ? 0x1111111111111111u : 0x2222222222222222u,
             turn % 2 ? 0x1111111111111111u : 0x2222222222222222u);
        __atomic_store_n(&shared_record.valid, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void* use_shared(void* unused) {
    (void)unused;
    truth_name_thread("worker");
    attach(&shared_record);
    for (uint64_t round = 0; truth_more(round); ++round) {
        handle_shared(round);
        truth_count(&shared_calls);
    }
    attach(NULL);
    return NULL;
}

static void run_shared(void) {
    pthread_t writer, user;
    truth_expect(pthread_create(&writer, NULL, write_shared, NULL) == 0 &&
                     pthread_create(&user, NULL, use_shared, NULL) == 0,
                 "threads");
    pthread_join(user, NULL);
    __atomic_store_n(&shared_is_over, true, __ATOMIC_RELAXED);
    pthread_join(writer, NULL);
}

static void run_child(uint64_t child) {
    struct context_record record = {0};
    truth_in_child();
    if (flags)
        attach(&record);
    for (uint64_t round = 0; round < truth_calls(); ++round)
        request(&record, (child + 1) * 1000000 + round);
    _exit(0);
}

static void run_children(void) {
    for (uint64_t child = 0; child < children; ++child) {
        const pid_t pid = fork();
        if (pid == 0)
            run_child(child);
        int status = 0;
        truth_expect(waitpid(pid, &status, 0) == pid && status == 0, "children end well");
        truth_add(&child_calls, truth_calls());
    }
}

// The header of a process context, and no attributes: that there is one is what is looked for.
static void publish_context(void) {
    struct {
        char signature[8];
        uint32_t version, payload_size;
        uint64_t published_at_ns;
        const char* payload;
    } header = {"", 2, 0, truth_now(), ""};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
    truth_expect(fd >= 0 && ftruncate(fd, (off_t)page) == 0, "a memfd");
    void* mapped = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    truth_expect(mapped != MAP_FAILED && madvise(mapped, page, MADV_DONTFORK) == 0, "a mapping");
    close(fd);
    memcpy(mapped, &header, sizeof header);
    atomic_thread_fence(memory_order_seq_cst);
    memcpy(mapped, "OTEL_CTX", 8);
}

static void find_variable(void) {
#ifdef CONTEXT_LATE
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    truth_expect(handle != NULL, "the library is loaded");
    if (handle)
        *(void**)&attach = dlsym(handle, "context_attach");
#else
    attach = context_attach;
#endif
    truth_expect(attach != NULL, "there is a variable");
}

static void prepare(void) {
    if (!load_late)
        find_variable();
    if (publish)
        publish_context();
}

static void report(FILE* out) {
    fprintf(out,
            ",\"handled\":%" PRIu64 ",\"traced\":%" PRIu64 ",\"child_calls\":%" PRIu64
            ",\"hostile_calls\":%" PRIu64 ",\"shared_calls\":%" PRIu64,
            truth_read(&handled), truth_read(&traced), truth_read(&child_calls),
            truth_read(&hostile_calls), truth_read(&shared_calls));
}

int main(int argc, char** argv) {
    const struct truth_option options[] = {
        {"threads", TRUTH_NUMBER, &threads, "that answer requests"},
        {"flags", TRUTH_FLAG, &flags, "records stay where they are"},
        {"hostile", TRUTH_FLAG, &hostile, "what the specification forbids"},
        {"share", TRUTH_FLAG, &share, "a record that another thread writes"},
        {"children", TRUTH_NUMBER, &children, "forked before the threads begin"},
        {"library", TRUTH_TEXT, &library, "that has the variable"},
        {"load-late", TRUTH_FLAG, &load_late, "loads it after the wait"},
        {"publish", TRUTH_FLAG, &publish, "a process context"},
    };
    const struct truth_program program = {
        .name = "trace_context",
        .about = "requests that belong to traces",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .report = report,
        .prepare = prepare,
        .calls = 100,
    };
    pthread_t thread[most_threads];
    truth_start(argc, argv, &program);
    if (threads > most_threads)
        threads = most_threads;
    if (load_late)
        find_variable();
    run_children();
    if (share) {
        run_shared();
        return truth_finish();
    }
    for (uint64_t i = 0; i < threads; ++i)
        truth_expect(pthread_create(&thread[i], NULL, work, (void*)(uintptr_t)i) == 0, "threads");
    for (uint64_t i = 0; i < threads; ++i)
        pthread_join(thread[i], NULL);
    return truth_finish();
}
