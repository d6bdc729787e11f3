// SPDX-License-Identifier: GPL-3.0-or-later
//
// A library with all that files have: symbols, call frame information, lines, types, inlined
// functions. Attackers change copies of it. Nothing links it: they map the page of `evil_honest`,
// whose code is that of attack_code.h.

struct point {
    int x : 3, y;
    struct point* next;
    enum { RED, BLUE } colour;
    double values[4];
};

static inline __attribute__((always_inline)) int twice(int value) {
    return value * 2;
}

int evil_sum(const struct point* point, const char* text) {
    int sum = 0;
    for (; point; point = point->next) {
        int y = twice(point->y);
        sum += y * *text;
    }
    return sum;
}

__attribute__((naked, aligned(4096))) unsigned long evil_honest(unsigned long turns
                                                                __attribute__((unused))) {
    __asm__("push %rbp\n"
            "mov %rsp, %rbp\n"
            "xor %eax, %eax\n"
            "1: add $3, %rax\n"
            "dec %rdi\n"
            "jne 1b\n"
            "pop %rbp\n"
            "ret\n");
}
