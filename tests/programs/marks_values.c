// SPDX-License-Identifier: GPL-3.0-or-later
//
// Each mark of auger.h, with values of every kind, in C and as C++: for tests/check_marks.
#include <auger.h>

struct bits {
    unsigned low : 3;
    int high : 5;
};
enum color { red, green };

void live(int id, void* pointer, const struct bits* bits, unsigned char small, unsigned long large);
void live(int id, void* pointer, const struct bits* bits, unsigned char small,
          unsigned long large) {
    AUGER_SPAN_BEGIN(whole, id);
    AUGER_MARK(none);
    AUGER_MARK(one, -1);
    AUGER_MARK(two, id, pointer);
    AUGER_MARK(three, small, large, 3);
    AUGER_MARK(four, bits->low, bits->high, green, 4u);
    AUGER_MARK(five, 1, 2, 3, 4, "text");
    if (id)
        AUGER_MARK(six, 1, 2, 3, 4, 5, id);
    else
        AUGER_SPAN_PARK(whole, pointer);
    AUGER_SPAN_RESUME(whole, large);
    AUGER_SPAN_END(whole, id);
}

// Nobody calls it: it goes when the linker collects garbage.
void dead(void);
void dead(void) {
    AUGER_MARK(dead);
}

// Two names of which the linker could make one function.
void twin(void);
void twin(void) {
    AUGER_MARK(twin);
}
void other_twin(void);
void other_twin(void) {
    AUGER_MARK(other_twin);
}

int main(int count, char** arguments) {
    (void)arguments;
    const struct bits bits = {1, -1};
    live(count - 1, 0, &bits, 1, 2);
    twin();
    other_twin();
    return 0;
}
