// SPDX-License-Identifier: GPL-3.0-or-later
//
// Calls `visit` with pointers to arrays, to pointers, to unions, and to the middle of an array, and
// an index. Its account says for each index what expressions are then, by the expressions
// themselves.
#include "common/truth.h"

#include <inttypes.h>

enum { item_count = 8, number_count = 16 };

struct part {
    uint16_t code;
    int32_t amount;
};

struct item {
    uint64_t id;
    const char* name;
    struct part parts[3];
    union {
        uint32_t whole;
        uint8_t bytes[4];
    } word;
    struct item* next;
};

static struct item all[item_count];
static struct item* reversed[item_count];
static int32_t numbers[number_count];
static uint64_t visited, chosen, sum;

TIMED long visit(struct item* items, struct item** order, char* middle, int index) {
    sum += items[index].id + order[index]->id + (uint64_t)middle[0];
    return index - 3;
}

static void prepare(void) {
    static const char* const names[item_count] = {"",       "one",  "deux",  "three",
                                                  "quatro", "five", "sechs", "seven"};
    for (int i = 0; i < item_count; ++i) {
        all[i] = (struct item){.id = 1000 + (uint64_t)i,
                               .name = names[i],
                               .word.whole = 0x01020304u * (unsigned)(i + 1),
                               .next = &all[(i + 3) % item_count]};
        for (int k = 0; k < 3; ++k)
            all[i].parts[k] = (struct part){(uint16_t)(100 * i + k), -(i * 10 + k)};
        reversed[i] = &all[item_count - 1 - i];
    }
    for (int i = 0; i < number_count; ++i)
        numbers[i] = i * i - 50;
}

#define NUMBER(expression) fprintf(out, "\"%s\":%ld,", #expression, (long)(expression))
#define TEXT(expression) fprintf(out, "\"str(%s)\":\"%s\",", #expression, expression)

static void report_visit(FILE* out, struct item* items, struct item** order, char* middle,
                         int index) {
    NUMBER(items[index].id);
    NUMBER(items[index].parts[2].amount);
    NUMBER(items[index].next->parts[1].code);
    NUMBER(items[index].word.bytes[1]);
    NUMBER(items->parts[index & 1].amount);
    NUMBER(order[index]->id);
    NUMBER((*order)->id);
    NUMBER((**order).parts[2].code);
    NUMBER((*(order + 2))->next->id);
    NUMBER(order[index][-1 + 1].word.whole);
    NUMBER((&items[index])->id);
    NUMBER(*(&items[7].parts[1].amount - 2));
    NUMBER(*(int32_t*)(middle - 8));
    NUMBER(((int32_t*)middle)[-3]);
    NUMBER(((int32_t*)middle)[index - 4]);
    NUMBER(*((int32_t*)middle + index));
    NUMBER(*(uint16_t*)((char*)(items + 2) + 24));
    NUMBER((uint8_t)items[index].id);
    NUMBER(index * 3 - 1);
    NUMBER(7 - index);
    NUMBER(1 << index);
    NUMBER(items[index].word.whole >> 8 & 0xff);
    NUMBER((char*)order[index] - (char*)items);
    TEXT(items[index].name);
    TEXT(order[index]->name);
    TEXT((*order)->name + 1);
    TEXT(*(char**)((char*)order[1] + 8));
    fprintf(out, "\"index\":%d", index);
}

static void report(FILE* out) {
    fprintf(out, ",\"visited\":%" PRIu64 ",\"chosen\":%" PRIu64 ",\"visits\":[", visited, chosen);
    for (int i = 0; i < item_count; ++i) {
        fprintf(out, i ? ",{" : "{");
        report_visit(out, all, reversed, (char*)&numbers[number_count / 2], i);
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

int main(int argc, char** argv) {
    const struct truth_program program = {.name = "pointers",
                                          .about = "passes pointers to arrays of things",
                                          .report = report,
                                          .prepare = prepare,
                                          .pause_us = 500};
    truth_start(argc, argv, &program);
    for (uint64_t done = 0; truth_more(done); ++done) {
        const int index = (int)(done % item_count);
        const struct item* item = &all[index];
        visit(all, reversed, (char*)&numbers[number_count / 2], index);
        truth_count(&visited);
        truth_add(&chosen, item->parts[2].amount < -25 && (item->word.bytes[1] & 6) == 6);
    }
    return truth_finish();
}
